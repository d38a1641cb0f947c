//! Packets that no capture has although they should be in it.

use std::fs;
use std::io;

use crate::hosts::HostNamespaces;
use crate::setup::HostName;

/// Packets that should be in captures and are not, as there was no room for them where they were to be seen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct UnseenPackets {
    pub sender: u64,
    pub receiver: u64,
    pub near: u64,
    pub far: u64,
}

/// Packets that the devices of hosts have dropped instead of handing them to this program.
pub fn dropped_by_devices(hosts: &HostNamespaces) -> io::Result<UnseenPackets> {
    let drops = |host| {
        hosts.enter(host)?;
        io::Result::Ok(dropped_in(&fs::read_to_string(
            "/proc/thread-self/net/dev",
        )?))
    };
    Ok(UnseenPackets {
        sender: drops(HostName::Sender)?,
        receiver: drops(HostName::Receiver)?,
        ..UnseenPackets::default()
    })
}

/// The sum of the column `drop` of what is sent: the twelfth number of a line (proc(5), /proc/net/dev).
fn dropped_in(text: &str) -> u64 {
    let devices = text.lines().filter_map(|line| line.split_once(':'));
    let drops =
        devices.filter_map(|(_, numbers)| numbers.split_whitespace().nth(11)?.parse::<u64>().ok());
    drops.sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn drops_of_devices_are_the_twelfth_number_of_their_lines() {
        let text = "Inter-|   Receive                                                |  Transmit
 face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs drop fifo colls carrier compressed
    lo:       0       0    0    0    0     0          0         0        0       0    0    0    0     0       0          0
  tun0:    4000      40    0    2    0     0          0         0     9000      90    0    7    0     0       0          0
";
        assert_eq!(dropped_in(text), 7);
    }
}
