"""terminal.py COLUMNS TERM COMMAND...: runs the command on a terminal of its own and prints whether
progress bars fit its width, whether a dumb terminal gets escapes, and whether evaluations are
shown."""
import fcntl, os, pty, struct, sys, termios

columns, kind, command = int(sys.argv[1]), sys.argv[2], sys.argv[3:]
pid, fd = pty.fork()
if pid == 0:
    fcntl.ioctl(2, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    os.environ["TERM"] = kind
    os.execv(command[0], command)
text = b""
while True:
    try:
        piece = os.read(fd, 65536)
    except OSError:
        break
    if not piece:
        break
    text += piece
code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
text = text.decode().replace("\r\n", "\n")
if kind == "dumb":
    print("escapes" if "\x1b" in text or "\r" in text else "no escapes")
    shown = text.split("\n")
else:
    shown = text.replace("\x1b[K", "").replace("\n", "\r").split("\r")
    bars = [len(line) for line in shown if "/400  loss" in line]
    print("bars", "fit" if bars and max(bars) < columns else bars)
print("evaluations", sum("eval" in line and "best" not in line for line in shown) > 0, "exit", code)
