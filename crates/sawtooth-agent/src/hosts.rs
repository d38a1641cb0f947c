//! Makes network namespaces, and performs the steps of [`setup`](crate::setup) in them.

use std::cell::Cell;
use std::fs::{self, File};
use std::io;
use std::os::fd::AsRawFd;

use netlink_packet_route::link::LinkAttribute;
use nix::sched::{CloneFlags, setns, unshare};

use crate::netlink::{Netlink, VethEnd};
use crate::setup::{Device, HostName, SetupStep};
use crate::tun::Tun;

/// The hosts that have been set up. Their namespaces live as long as this and the sockets that were opened in them.
#[derive(Debug, Default)]
pub struct HostNamespaces {
    namespaces: Vec<(HostName, File)>,
    /// Where the thread is, if it is known.
    place: Cell<Option<HostName>>,
    pub tuns: Vec<(HostName, Tun)>,
}

impl HostNamespaces {
    /// Performs all steps.
    pub fn set_up(steps: &[SetupStep]) -> io::Result<Self> {
        let mut hosts = Self::default();
        for step in steps {
            hosts
                .perform(step)
                .map_err(|error| io::Error::other(format!("{error}, at: {step}")))?;
        }
        Ok(hosts)
    }

    /// The calling thread is at `host` from now on.
    pub fn enter(&self, host: HostName) -> io::Result<()> {
        if self.place.get() != Some(host) {
            setns(self.namespace(host), CloneFlags::CLONE_NEWNET)?;
            self.place.set(Some(host));
        }
        Ok(())
    }

    /// Connections that programs have closed or left behind are tried once more at most.
    pub fn give_up_orphans(&self) -> io::Result<()> {
        for (host, _) in &self.namespaces {
            self.enter(*host)?;
            set_sysctl("net.ipv4.tcp_orphan_retries", "1")?;
        }
        Ok(())
    }

    fn namespace(&self, host: HostName) -> &File {
        let known = self.namespaces.iter().find(|(name, _)| *name == host);
        &known.expect("steps make a host before they use it").1
    }

    fn perform(&mut self, step: &SetupStep) -> io::Result<()> {
        match step {
            SetupStep::Host(name) => {
                unshare(CloneFlags::CLONE_NEWNET)?;
                self.place.set(Some(*name));
                let namespace = File::open("/proc/thread-self/ns/net")?;
                self.namespaces.push((*name, namespace));
                Ok(())
            }
            SetupStep::Sysctl { host, name, value } => {
                self.enter(*host)?;
                set_sysctl(name, value)
            }
            SetupStep::Tun { device, mtu } => {
                self.enter(device.host)?;
                self.tuns.push((device.host, Tun::new(device.name, *mtu)?));
                Ok(())
            }
            SetupStep::Veth { ends, mtu } => {
                let [one, other] = ends.map(|device| VethEnd {
                    name: device.name,
                    mac: device.mac(),
                    mtu: *mtu,
                    namespace: self.namespace(device.host).as_raw_fd(),
                });
                Netlink::open()?.veth(one, other)
            }
            SetupStep::Address { device, address } => {
                let (netlink, index) = self.at(*device)?;
                netlink.address(index, *address)
            }
            SetupStep::GsoMaxSegs { device, segments } => {
                let (netlink, index) = self.at(*device)?;
                netlink.set(index, LinkAttribute::GsoMaxSegs(*segments))
            }
            SetupStep::Up(device) => {
                let (netlink, index) = self.at(*device)?;
                netlink.up(index)
            }
            SetupStep::Neighbour {
                device,
                address,
                of,
            } => {
                let (netlink, index) = self.at(*device)?;
                netlink.neighbour(index, *address, of.mac())
            }
            SetupStep::Route {
                device,
                to,
                via,
                metrics,
            } => {
                let (netlink, index) = self.at(*device)?;
                netlink.route(index, *to, *via, *metrics)
            }
            SetupStep::Qdisc {
                device,
                place,
                qdisc,
            } => {
                let (netlink, index) = self.at(*device)?;
                netlink.qdisc(index, *place, qdisc)
            }
        }
    }

    /// The kernel's ear where a device is, and the device's number.
    fn at(&self, device: Device) -> io::Result<(Netlink, u32)> {
        self.enter(device.host)?;
        Ok((Netlink::open()?, index(device)?))
    }
}

/// The number of a device of the network namespace in which the calling thread is.
pub fn index(device: Device) -> io::Result<u32> {
    Ok(nix::net::if_::if_nametoindex(device.name)?)
}

/// Sets a sysctl of the network namespace in which the calling thread is.
pub fn set_sysctl(name: &str, value: &str) -> io::Result<()> {
    let path = format!("/proc/sys/{}", name.replace('.', "/"));
    fs::write(path, value).map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => io::Error::other(format!(
            "a network namespace of this kernel has no setting `{name}`"
        )),
        _ => io::Error::other(format!("this kernel refuses {name} = {value} ({error})")),
    })
}
