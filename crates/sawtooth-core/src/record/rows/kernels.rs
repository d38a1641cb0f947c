//! Of real kernels: their counters.

use crate::record::Text;

row! {
    CounterRow: "counters", "one row per host and counter of its kernel that is not zero, with real kernels only (nstat(8))";
    host: Text, "", "sender or receiver";
    counter: Text, "", "the kernel's name, such as TcpExtTCPTimeouts";
    value: u64, "", "at the end of the run";
}

/// The rows of a host by name, from a text that has the form of Linux's `/proc/net/netstat`: all counters of TCP, and of IP those of congestion marks.
pub fn counter_rows(host: &str, text: &str) -> Vec<CounterRow> {
    let mut rows = Vec::new();
    let lines: Vec<&str> = text.lines().collect();
    // Pairs of lines: names, then values, both after the protocol's name.
    for pair in lines.chunks_exact(2) {
        let (names, values) = (pair[0].split_whitespace(), pair[1].split_whitespace());
        let protocol = pair[0].split(':').next().unwrap_or_default();
        for (name, value) in names.zip(values).skip(1) {
            let is_told = match protocol {
                "Tcp" | "TcpExt" => true,
                "IpExt" => name.contains("ECT") || name.contains("CE"),
                _ => false,
            };
            let value = value.parse().ok().filter(|value| *value != 0);
            if let Some(value) = value.filter(|_| is_told) {
                rows.push(CounterRow {
                    host: host.into(),
                    counter: format!("{protocol}{name}").into(),
                    value,
                });
            }
        }
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_counter_has_its_protocol_before_its_name_and_no_row_if_it_is_zero() {
        let text = "TcpExt: TCPTimeouts TCPSpuriousRTOs\nTcpExt: 3 0\nIpExt: InOctets InCEPkts\nIpExt: 9 2\nMPTcpExt: MPCapableSYNRX\nMPTcpExt: 1\n";
        let rows = counter_rows("sender", text);
        let found: Vec<_> = rows.iter().map(|row| (&*row.counter, row.value)).collect();
        assert_eq!(found, [("TcpExtTCPTimeouts", 3), ("IpExtInCEPkts", 2)]);
    }
}
