//! Of real kernels: their counters.

row! {
    CounterRow: "counters", "one row per host and counter of its kernel that is not zero, with real kernels only (nstat(8))";
    host: String, "", "sender or receiver";
    counter: String, "", "the kernel's name, such as TcpExtTCPTimeouts";
    value: u64, "", "at the end of the run";
}
