#!/bin/sh
# A sender's and a receiver's namespace with a router between them, all of which ends with this script: network.sh COMMAND ...
# runs COMMAND in the sender's namespace, where RECEIVER is a prefix that runs a command in the receiver's. QUEUE (bytes) is the router's;
# OWN_RATE shapes the sender's own device.
#
#     sender 10.99.1.2 -- veth -- router -- veth, 20 Mbit/s -- receiver 10.99.2.2
#
# Called by `unshare --net --mount --pid`, so that nothing of the host is touched.
set -e
mount -t tmpfs tmpfs /run
for host in sender receiver; do ip netns add $host; done
ip link set lo up
ip link add to-sender type veth peer name out netns sender
ip link add to-receiver type veth peer name in netns receiver
ip addr add 10.99.1.1/24 dev to-sender
ip addr add 10.99.2.1/24 dev to-receiver
ip -n sender addr add 10.99.1.2/24 dev out
ip -n receiver addr add 10.99.2.2/24 dev in
for link in to-sender to-receiver; do ip link set $link up; done
ip -n sender link set lo up
ip -n sender link set out up
ip -n receiver link set in up
ip -n sender route add default via 10.99.1.1
ip -n receiver route add default via 10.99.2.1
echo 1 >/proc/sys/net/ipv4/ip_forward
tc qdisc add dev to-receiver root tbf rate 20mbit burst 10kb limit ${QUEUE:-150000}
if [ -n "$OWN_RATE" ]; then ip netns exec sender tc qdisc add dev out root tbf rate "$OWN_RATE" burst 10kb limit 10mb; fi
# No exec: this shell is what keeps the router's namespace.
RECEIVER="ip netns exec receiver" ip netns exec sender "$@"
