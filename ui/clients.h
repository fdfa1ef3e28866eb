/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Clients: whom a server serves, and how to become one, as parts of a view.  Pure. */
#ifndef ND_UI_CLIENTS_H
#define ND_UI_CLIENTS_H

#include "ui/canvas.h"
#include "ui/scene.h"

/* As many as the box has use for. */
unsigned int clients_rows(const struct scene *s);
/* A box with a row for each; those that run first. */
void clients_draw(const struct scene *s, struct canvas *c, struct area a);
/* The lines of scene.invitation; returns what is left of the area. */
struct area clients_invitation(const struct scene *s, struct canvas *c, struct area a);

#endif
