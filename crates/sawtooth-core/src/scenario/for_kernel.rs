//! A scenario for real kernels: what they cannot do is refused, before anything is started.

use serde_json::{Map, Value as Json};

use super::check;
use super::error::{Result, at, at_key};
use super::origins::Origins;
use super::read::read;
use super::recording::LINK_WORDS;
use crate::cc;
use crate::kernel::{APPLICATION, Programs, SHAPER, Shaper};
use crate::spec::{Sampling, Scenario, cc_defaults};
use crate::tcp::key;
use crate::tcp::params::{Feedback, ROWS, kernel_keys_of_a_hint, kernel_keys_of_hosts};

/// Reads a scenario for a real kernel, and refuses what no kernel can be set to do.
pub fn for_kernel(tree: &Json) -> Result<(Scenario, Origins<'_>)> {
    let (scenario, origins) = read(tree)?;
    if origins.tree.contains_key("hosts") {
        let message = "`hosts` are of the simulator alone: a real kernel has its own costs";
        return Err(at_key("hosts", message).hint(
            "leave them out, or put them and `host` into an arm with `backends = [\"sim\"]`",
        ));
    }
    check_tcp_keys(origins.tree)?;
    check_udp(&scenario)?;
    check_fluid(&scenario, &origins)?;
    check_recording(origins.tree)?;
    check_parameters(&scenario, &origins)?;
    check_tcp_values(&scenario, &origins)?;
    check_what_hosts_share(&scenario)?;
    check::shaper(&scenario, &origins)?;
    check_application(&scenario, &origins)?;
    Ok((scenario, origins))
}

/// Each key of a table `tcp` is one that can be set in a kernel, and so is its value.
fn check_tcp_keys(tree: &Map<String, Json>) -> Result<()> {
    let flows = tree.get("flows").and_then(Json::as_array);
    let own = flows.into_iter().flatten().enumerate();
    let own = own.map(|(index, flow)| (format!("flows[{index}].tcp"), flow.get("tcp")));
    for (path, table) in std::iter::once(("tcp".to_owned(), tree.get("tcp"))).chain(own) {
        let Some(table) = table.and_then(Json::as_object) else {
            continue;
        };
        for row in ROWS {
            let key = row.param.name;
            let written = table.get(key).and_then(Json::as_str);
            if let Some(value) = written.filter(|word| row.is_unknown_to_kernels(word)) {
                let message = format!("a real kernel knows no `{key} = \"{value}\"`");
                return Err(at(format!("{path}.{key}"), message).hint(&format!(
                    "it has {}; an arm with `backends = [\"sim\"]` is the simulator's alone",
                    row.known_to_kernels()
                )));
            }
        }
        let known = kernel_keys_of_a_hint();
        if let Some(key) = table.keys().find(|key| !known.contains(&key.as_str())) {
            return Err(at_key(
                format!("{path}.{key}"),
                format!("a real kernel cannot be told `{key}`: it has its own"),
            )
            .hint(&format!(
                "leave it out, or put it into an arm with `backends = [\"sim\"]`; a kernel can be told {}",
                known.join(", ")
            )));
        }
    }
    Ok(())
}

/// What is recorded can be seen at links, or from the sockets.
fn check_recording(tree: &Map<String, Json>) -> Result<()> {
    let words = tree.get("record").and_then(Json::as_array);
    let mut hidden = words
        .into_iter()
        .flatten()
        .filter_map(Json::as_str)
        .filter(|word| !LINK_WORDS.contains(word) && *word != "transfers");
    let Some(word) = hidden.next() else {
        return Ok(());
    };
    let message = format!("a real kernel does not tell its {word}");
    let hint = format!("leave `{word}` out, or put it into an arm with `backends = [\"sim\"]`");
    Err(at("record", message).hint(&hint))
}

/// No congestion control has other parameters than its defaults.
fn check_parameters(scenario: &Scenario, origins: &Origins) -> Result<()> {
    for (flow, origin) in scenario.all_flows().zip(origins.all_flows()) {
        let entry = cc::TABLE.iter().find(|entry| entry.name == flow.cc.name);
        let defaults = entry.map(|entry| cc_defaults(entry, &flow.tcp));
        if flow.kernel_cc.is_none() && defaults.is_some_and(|known| known != flow.cc.params) {
            let name = flow.cc.name;
            let message = format!("a real kernel cannot be told parameters of `{name}`");
            return Err(at(origin.cc(), message).hint("leave them out: the kernel has its own"));
        }
    }
    Ok(())
}

/// Values of TCP's parameters, wherever they come from, that no kernel has.
fn check_tcp_values(scenario: &Scenario, origins: &Origins) -> Result<()> {
    for (flow, origin) in scenario.all_flows().zip(origins.all_flows()) {
        let place = |key| origins.tcp(origin).place_or_common(key);
        if flow.given(key::ecn) == Some(Feedback::Accurate) {
            return Err(at(
                place(key::ecn.name),
                "no packaged kernel has the feedback of RFC 9768",
            )
            .hint("\"classic\", or \"dctcp\" with cc and receiver_cc = \"dctcp\""));
        }
        if let Some(every @ 3..) = flow.given(key::ack_every) {
            let message = format!("a real kernel cannot be told `ack_every = {every}`");
            return Err(at(place(key::ack_every.name), message)
                .hint("it has 2, and 1 where no acknowledgement is delayed"));
        }
    }
    Ok(())
}

/// What is set for routes and hosts holds for all flows.
fn check_what_hosts_share(scenario: &Scenario) -> Result<()> {
    for key in kernel_keys_of_hosts() {
        let mut flows = scenario.all_flows();
        let Some(first) = flows.next() else { break };
        if let Some(other) = flows.find(|flow| flow.given_value(key) != first.given_value(key)) {
            return Err(at(
                "flows",
                format!(
                    "flows `{}` and `{}` want `{key}` otherwise: a real kernel has one for all flows between two hosts",
                    first.name, other.name
                ),
            )
            .hint("set it in [scenario.tcp]"));
        }
    }
    Ok(())
}

/// The agent's own links carry packets of UDP beside those of the kernel's connections.
fn check_udp(scenario: &Scenario) -> Result<()> {
    if scenario.flows.is_empty() && scenario.arriving.is_empty() {
        let message = "a real kernel needs a connection of TCP, and here is only UDP";
        return Err(at("flows", message)
            .hint("leave it to the simulator: no kernel has a part in UDP flows"));
    }
    if !scenario.udp.is_empty() && SHAPER.of(&scenario.kernel.settings) == Shaper::Kernel {
        let message = "the kernel's shaper carries no flows of UDP";
        return Err(at("kernel.shaper", message)
            .hint("leave out kernel.shaper: the simulator's own links can do it"));
    }
    Ok(())
}

/// A kernel has packets.
fn check_fluid(scenario: &Scenario, origins: &Origins) -> Result<()> {
    let Some((spec, origin)) = scenario.fluid.iter().zip(&origins.entries.fluid).next() else {
        return Ok(());
    };
    let message = format!(
        "`{}` is a fluid, and a real kernel has packets",
        spec.flow.name
    );
    Err(at(origin.key("model"), message)
        .hint("leave out `model`, or put it into an arm with `backends = [\"sim\"]`"))
}

/// Real programs fetch files.
fn check_application(scenario: &Scenario, origins: &Origins) -> Result<()> {
    if APPLICATION.of(&scenario.kernel.settings) != Programs::Http {
        return Ok(());
    }
    if scenario.sample != Sampling::Never {
        let message = "the sockets of packaged programs cannot be sampled";
        return Err(at("sample", message).hint("leave it out, or kernel.application"));
    }
    if let Some(origin) = origins.entries.arriving.first() {
        let message = "packaged programs fetch one file each: none arrive and leave";
        return Err(at(origin.key("arrivals"), message)
            .hint("leave out kernel.application: the agent's own sockets can do it"));
    }
    for (index, flow) in scenario.flows.iter().enumerate() {
        if flow.source.name != "bulk" {
            let message = format!("a fetch is of one file, not `{}`", flow.source.name);
            return Err(at(format!("flows[{index}].source"), message).hint(
                "write source = { name = \"bulk\", size = \"1 MB\" }, or leave out kernel.application",
            ));
        }
        if flow.size().is_none() {
            let message = format!("a file has a size, and flow `{}` is endless", flow.name);
            return Err(at("kernel.application", message)
                .hint("for example source = { name = \"bulk\", size = \"1 MB\" }"));
        }
        if flow.given(key::window_limit).is_some() {
            let message = "packaged programs cannot be told a `window_limit`";
            return Err(at("kernel.application", message)
                .hint("leave one of the two out, or set net.ipv4.tcp_rmem in kernel.sysctl"));
        }
    }
    Ok(())
}
