"""Live sockets: what holds back the TCP connections of this machine, by the kernel's own counters."""
