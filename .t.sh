cd /work/wt/ssh
sed '/^# ---- it works ----/,$d' tests/cli/ssh.sh > $1/head.sh
cat >> $1/head.sh <<'X'
time timeout 20 "$NETDOCTOR" diagnose "$peer" --remote-command true
time timeout 20 ssh -T -p $ssh_port far true
time timeout 20 ssh -T -x -a -o ClearAllForwardings=yes -o PermitLocalCommand=no -o RemoteCommand=none -o ControlMaster=no -p $ssh_port -- far true
tail -5 $work/sshd
X
NETDOCTOR=./netdoctor BUILD=build bash $1/head.sh
