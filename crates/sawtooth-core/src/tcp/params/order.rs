//! The order in which hints and warnings name several parameters, where it is not that of the table. Users know these texts, so the order stays.
//!
//! What a list lacks comes after all that it has, in the table's order: a new parameter needs no place here.

use super::row::{ReadBy, TcpParam};
use super::{ROWS, key};

/// What can be set in a kernel, as a hint lists it.
pub fn kernel_keys_of_a_hint() -> Vec<&'static str> {
    let mut names = names(|row| row.kernel.is_some());
    names.sort_by_key(|name| place(OF_KERNELS, name));
    names
}

/// What flows between the same hosts have to agree on; of several that differ the first is named.
pub fn kernel_keys_of_hosts() -> Vec<&'static str> {
    let mut names = names(|row| row.kernel.is_some_and(|kernel| kernel.shared));
    names.sort_by_key(|name| place(OF_HOSTS, name));
    names
}

/// What has an effect with some words of another parameter only, as warnings follow one another.
pub fn rows_that_some_read() -> Vec<(&'static TcpParam, ReadBy)> {
    let rows = ROWS.iter();
    let mut rows: Vec<_> = rows.filter_map(|row| Some((row, row.read_by?))).collect();
    rows.sort_by_key(|(row, _)| place(OF_READERS, row.param.name));
    rows
}

fn names(are: impl Fn(&TcpParam) -> bool) -> Vec<&'static str> {
    let rows = ROWS.iter().filter(|row| are(row));
    rows.map(|row| row.param.name).collect()
}

fn place(list: &[&str], name: &str) -> usize {
    let found = list.iter().position(|listed| *listed == name);
    found.unwrap_or(list.len())
}

const OF_KERNELS: &[&str] = &[
    key::smss.name,
    key::mss_from_mtu.name,
    key::window_limit.name,
    key::initial_window.name,
    key::rto_min.name,
    key::dup_thresh.name,
    key::receive_buffer_default.name,
    key::receive_buffer_max.name,
    key::receive_auto_tuning.name,
    key::adv_win_scale.name,
    key::window_scaling.name,
    key::send_buffer_default.name,
    key::send_buffer_max.name,
    key::ecn.name,
    key::metrics_cache.name,
    key::partial.name,
    key::autocorking.name,
    key::ack_every.name,
    key::restart_after_idle.name,
];

const OF_HOSTS: &[&str] = &[
    key::initial_window.name,
    key::rto_min.name,
    key::dup_thresh.name,
    key::ecn.name,
    key::metrics_cache.name,
    key::receive_buffer_default.name,
    key::receive_buffer_max.name,
    key::receive_auto_tuning.name,
    key::adv_win_scale.name,
    key::window_scaling.name,
    key::send_buffer_default.name,
    key::send_buffer_max.name,
    key::restart_after_idle.name,
];

const OF_READERS: &[&str] = &[
    key::partial_ack_timer.name,
    key::exit_window.name,
    key::recovery_burst.name,
    key::byte_window.name,
    key::limited_transmit.name,
    key::sack_pipe.name,
    key::max_sack_blocks.name,
    key::sack_compression_delay.name,
    key::sack_compression_slack.name,
    key::sack_compression_max.name,
    key::sack_option_header.name,
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_has_only_parameters_that_it_is_about_and_each_once() {
        let read = rows_that_some_read().into_iter();
        let read = read.map(|(row, _)| row.param.name).collect();
        for (list, all) in [
            (OF_KERNELS, kernel_keys_of_a_hint()),
            (OF_HOSTS, kernel_keys_of_hosts()),
            (OF_READERS, read),
        ] {
            assert_eq!(list, &all[..list.len()]);
        }
    }
}
