import signal

# Under nohup, or in the background of a script, signals are ignored, and whatever is started from here would ignore them, too: not those that are heard, if
# only to do nothing. So tests that stop a program do so wherever they are run.
for number in (signal.SIGINT, signal.SIGQUIT, signal.SIGHUP, signal.SIGTERM):
    if signal.getsignal(number) == signal.SIG_IGN:
        signal.signal(number, lambda *_: None)
# Nobody could wait for a process.
signal.signal(signal.SIGCHLD, signal.SIG_DFL)
