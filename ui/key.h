/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Keys: a code point, or one of these. */
#ifndef ND_UI_KEY_H
#define ND_UI_KEY_H

#include <stdint.h>

enum ui_key {
	UI_KEY_NONE = 0,
	UI_KEY_TAB = 0x09,
	UI_KEY_ENTER = 0x0d,
	UI_KEY_ESCAPE = 0x1b,
	UI_KEY_SPACE = 0x20,
	UI_KEY_UP = 0x110000,	/* above all code points */
	UI_KEY_DOWN,
	UI_KEY_LEFT,
	UI_KEY_RIGHT,
	UI_KEY_PAGE_UP,
	UI_KEY_PAGE_DOWN,
	UI_KEY_HOME,
	UI_KEY_END,
	UI_KEY_BACK_TAB,
	UI_KEY_BACKSPACE,
	UI_KEY_CLICK,		/* terminal_clicked() says where */
	UI_KEYS_END
};

#endif
