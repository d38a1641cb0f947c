//! The columns by their names in RFC 4898, the TCP Extended Statistics MIB, and in web100, from which it came.
//!
//! web100 called some of the variables otherwise before they were standardised, and in its kernels and tools still did afterwards: its names
//! are those that the Network Diagnostic Tool lists (M-Lab NDT, `varinfo.h`).

/// A name of RFC 4898, and the columns of one table that it stands for.
#[derive(Clone, Copy, Debug)]
pub struct Alias {
    /// The table of ours that has the columns: `flows` or `series`.
    pub table: &'static str,
    /// The object, such as `tcpEStatsPerfSegsRetrans`. Without the prefix up to its group it is what web100 and everybody calls it.
    pub object: &'static str,
    /// It is the sum of these columns, less those.
    pub columns: &'static [&'static str],
    /// Columns that are subtracted from that sum; mostly none.
    pub less: &'static [&'static str],
    /// What web100 calls it, if that is another name than this one without its group.
    pub web100: Option<&'static str>,
    /// In what the columns differ from the object; times are nanoseconds here, milliseconds there.
    pub remark: &'static str,
}

impl Alias {
    /// The name without its group, such as `SegsRetrans`.
    pub fn name(&self) -> &'static str {
        GROUPS
            .iter()
            .find_map(|group| self.object.strip_prefix(group))
            .unwrap_or(self.object)
    }
}

/// The tables of the MIB, which its objects' names begin with (RFC 4898 §4).
const GROUPS: &[&str] = &[
    "tcpEStatsPerf",
    "tcpEStatsPath",
    "tcpEStatsStack",
    "tcpEStatsApp",
];

const fn flows(
    object: &'static str,
    columns: &'static [&'static str],
    remark: &'static str,
) -> Alias {
    Alias {
        table: "flows",
        object,
        columns,
        less: &[],
        web100: None,
        remark,
    }
}

const fn series(
    object: &'static str,
    columns: &'static [&'static str],
    remark: &'static str,
) -> Alias {
    Alias {
        table: "series",
        ..flows(object, columns, remark)
    }
}

/// All names.
pub const RFC4898: &[Alias] = &[
    Alias {
        web100: Some("DataPktsOut"),
        ..flows(
            "tcpEStatsPerfDataSegsOut",
            &["sent_packets"],
            "the SYN counts, too",
        )
    },
    Alias {
        web100: Some("PktsRetrans"),
        ..flows("tcpEStatsPerfSegsRetrans", &["retransmits"], "")
    },
    flows("tcpEStatsAppHCThruOctetsAcked", &["acked_bytes"], ""),
    flows(
        "tcpEStatsAppHCThruOctetsReceived",
        &["delivered_bytes"],
        "the receiver's",
    ),
    flows("tcpEStatsStackFastRetran", &["fast_retransmits"], ""),
    Alias {
        less: &["subsequent_timeouts"],
        ..flows("tcpEStatsPerfTimeouts", &["timeouts"], "")
    },
    flows(
        "tcpEStatsStackSubsequentTimeouts",
        &["subsequent_timeouts"],
        "",
    ),
    flows("tcpEStatsStackDupAcksIn", &["dupacks_in"], ""),
    flows("tcpEStatsStackSACKsRcvd", &["sacks_in"], ""),
    flows("tcpEStatsStackDSACKDups", &["dsacks_in"], ""),
    Alias {
        web100: Some("CongestionSignals"),
        ..flows("tcpEStatsPerfCongSignals", &["congestion_signals"], "")
    },
    Alias {
        web100: Some("CongestionOverCount"),
        ..flows("tcpEStatsStackCongOverCount", &["spurious"], "")
    },
    flows(
        "tcpEStatsPathECNsignals",
        &["ecn_signals"],
        "the acknowledgements; congestion_signals counts the reductions that follow",
    ),
    flows("tcpEStatsPathCERcvd", &["ce_in"], "the receiver's"),
    flows(
        "tcpEStatsStackSpuriousRtoDetected",
        &["spurious_timeouts"],
        "timeouts found spurious; the object counts the acknowledgements that show it",
    ),
    Alias {
        less: &["spurious_timeouts"],
        ..flows(
            "tcpEStatsStackSpuriousFrDetected",
            &["spurious"],
            "recoveries found spurious; the object counts the acknowledgements that show it",
        )
    },
    flows(
        "tcpEStatsPerfSmoothedRTT",
        &["srtt_ns"],
        "at the end of the run",
    ),
    flows("tcpEStatsPathMinRTT", &["min_rtt_ns"], ""),
    flows("tcpEStatsPathMaxRTT", &["max_rtt_ns"], ""),
    flows("tcpEStatsPathCountRTT", &["rtt_samples"], ""),
    flows("tcpEStatsPerfSndLimTimeRwin", &["limited_rwnd_ns"], ""),
    flows(
        "tcpEStatsPerfSndLimTimeCwnd",
        &[
            "limited_cwnd_ns",
            "limited_pacing_ns",
            "limited_recovery_ns",
            "limited_rto_ns",
        ],
        "",
    ),
    Alias {
        web100: Some("SndLimTimeSender"),
        ..flows(
            "tcpEStatsPerfSndLimTimeSnd",
            &[
                "limited_source_ns",
                "limited_send_buffer_ns",
                "limited_nagle_ns",
            ],
            "",
        )
    },
    series("tcpEStatsPerfCurCwnd", &["cwnd_bytes"], ""),
    series("tcpEStatsPerfCurSsthresh", &["ssthresh_bytes"], ""),
    series("tcpEStatsPerfSmoothedRTT", &["srtt_ns"], ""),
    series("tcpEStatsPerfPipeSize", &["pipe_bytes"], ""),
    series("tcpEStatsAppHCThruOctetsAcked", &["acked_bytes"], ""),
    series(
        "tcpEStatsAppHCThruOctetsReceived",
        &["delivered_bytes"],
        "the receiver's",
    ),
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::{SCHEMA, Type};

    #[test]
    fn every_name_stands_for_numbers_of_its_table_and_is_there_once() {
        for (at, alias) in RFC4898.iter().enumerate() {
            assert_ne!(alias.name(), alias.object, "a group that is not known");
            let table = SCHEMA.iter().find(|table| table.name == alias.table);
            let known = table.expect("a table").columns;
            for name in alias.columns.iter().chain(alias.less) {
                let column = known.iter().find(|column| column.name == *name);
                let kind = column.unwrap_or_else(|| panic!("no {name}")).kind;
                assert_ne!(kind, Type::Str, "{name}");
            }
            let names = |alias: &Alias| [Some(alias.name()), alias.web100];
            let shares = |other: &&Alias| {
                let mine = names(alias).into_iter().flatten();
                let mut theirs = names(other).into_iter().flatten();
                other.table == alias.table && theirs.any(|name| mine.clone().any(|it| it == name))
            };
            assert_eq!(RFC4898[..at].iter().find(shares).map(|it| it.object), None);
            assert_ne!(alias.web100, Some(alias.name()));
        }
    }

    #[test]
    fn rfc4898_every_moment_of_a_life_is_in_one_of_the_three_limits() {
        let limits = RFC4898
            .iter()
            .filter(|it| it.name().starts_with("SndLimTime"));
        let mut parts: Vec<_> = limits.flat_map(|alias| alias.columns).collect();
        parts.sort_unstable();
        let flows = &SCHEMA[0];
        let mut columns: Vec<_> = flows
            .columns
            .iter()
            .map(|column| &column.name)
            .filter(|name| name.starts_with("limited_"))
            .collect();
        columns.sort_unstable();
        assert_eq!(parts, columns);
    }
}
