# One ns-2 run, described by a Tcl dictionary in the file named by the first argument.
#
# peer.py writes that file and documents its keys; every number reaches ns-2 with all the
# digits that Python printed. Results go to standard output, one record a line:
#   flow INDEX NAME VALUE NAME VALUE ...     counters when the run ends
#   link NAME arrivals A departures D drops X
#   at TIME flow INDEX NAME VALUE ...        polled state, only if asked for
#   ev TIME TRACE-LINE                       packet events and variable changes, only if asked for
#
# ns-2 rounds the times of its traces to a microsecond. The traces are therefore written into a
# reflected Tcl channel, whose handler runs at once and puts the scheduler's full time in front.

set case [open [lindex $argv 0] r]
set C [read $case]
close $case

proc get {key {default ""}} {
    global C
    if {[dict exists $C $key]} { return [dict get $C $key] }
    return $default
}

proc trace_channel {command args} {
    global ns
    switch $command {
        initialize { return {initialize finalize watch write} }
        write {
            set text [lindex $args 1]
            puts "ev [$ns now] [string trimright $text]"
            return [string length $text]
        }
    }
}

# Variables of every TCP agent must be set before the agents exist: some are read by constructors.
foreach class {Agent/TCP Agent/TCP/Reno Agent/TCP/Newreno Agent/TCP/Sack1} {
    foreach {name value} [get vars] { $class set $name $value }
}
foreach {name value} [get sink_vars] { Agent/TCPSink set $name $value }
foreach {name value} [get delack_vars] { Agent/TCPSink/DelAck set $name $value }

set ns [new Simulator]
set tracing [get trace_packets 0]
if {$tracing || [llength [get trace_vars]]} {
    set sniffer [chan create write trace_channel]
    fconfigure $sniffer -buffering none -translation binary
}

# The order in which nodes are made decides the order in which ns-2 resets their agents, and so which
# random clock phase each sender draws: senders first, as in the published study.
set N [get n]
set single [get single 0]
for {set i 0} {$i < $N && !$single} {incr i} { set S($i) [$ns node] }
set R [$ns node]
set Rd [$ns node]
for {set i 0} {$i < $N && !$single} {incr i} { set D($i) [$ns node] }
set monitored {}

proc connect_nodes {name a b rate back_rate delay limit back_limit} {
    global ns monitored sniffer tracing
    $ns simplex-link $a $b $rate $delay DropTail
    $ns simplex-link $b $a $back_rate $delay DropTail
    $ns queue-limit $a $b $limit
    $ns queue-limit $b $a $back_limit
    if {[get monitor 0]} {
        lappend monitored $name [$ns monitor-queue $a $b ""] $name-reverse [$ns monitor-queue $b $a ""]
    }
    if {$tracing > 1 || ($tracing && $name eq "bottleneck")} {
        $ns trace-queue $a $b $sniffer
        $ns trace-queue $b $a $sniffer
    }
}

connect_nodes bottleneck $R $Rd [get rate] [get reverse_rate] [get delay] [get queue] [get reverse_queue]
for {set i 0} {$i < $N} {incr i} {
    if {$single} {
        set S($i) $R
        set D($i) $Rd
        continue
    }
    set limit [get access_queue]
    connect_nodes sender$i $S($i) $R [get access_rate] [get access_rate] \
        [lindex [get sender_delay] $i] $limit $limit
    connect_nodes receiver$i $Rd $D($i) [get access_rate] [get access_rate] \
        [lindex [get receiver_delay] $i] $limit $limit
}

# Chosen losses: the k-th packet (from 0, SYN included) that reaches the bottleneck, per direction.
proc drop_listed {a b list} {
    global ns
    if {![llength $list]} return
    set model [new ErrorModel/List]
    $model droplist $list
    $ns lossmodel $model $a $b
}
drop_listed $R $Rd [get drop_forward]
drop_listed $Rd $R [get drop_reverse]

for {set i 0} {$i < $N} {incr i} {
    set tcp($i) [new Agent/[lindex [get agents] $i]]
    set sink($i) [new Agent/[lindex [get sinks] $i]]
    $tcp($i) set fid_ $i
    $sink($i) set fid_ $i
    $tcp($i) set window_ [lindex [get windows] $i]
    $tcp($i) set packetSize_ [get packet_size]
    foreach {name value} [lindex [get flow_vars] $i] { $tcp($i) set $name $value }
    $ns attach-agent $S($i) $tcp($i)
    $ns attach-agent $D($i) $sink($i)
    $ns connect $tcp($i) $sink($i)
    set ftp($i) [new Application/FTP]
    $ftp($i) attach-agent $tcp($i)
    foreach name [get trace_vars] { $tcp($i) trace $name }
    if {[llength [get trace_vars]]} { $tcp($i) attach $sniffer }
    if {[lindex [get agents] $i] eq "TCP/Linux"} { $ns at 0 "$tcp($i) select_ca [lindex [get select_ca] $i]" }
    $ns at [lindex [get starts] $i] "$ftp($i) start"
}

proc state {i names} {
    global tcp
    set line ""
    foreach name $names { append line " $name [$tcp($i) set $name]" }
    return $line
}

proc poll {} {
    global ns N
    for {set i 0} {$i < $N} {incr i} { puts "at [$ns now] flow $i[state $i [get poll_vars]]" }
}
foreach time [get poll_times] { $ns at $time poll }

proc finish {} {
    global N monitored
    # A module of the Linux agent may have printed half a line of its own, through another buffer.
    puts ""
    for {set i 0} {$i < $N} {incr i} {
        puts "flow $i[state $i {ack_ maxseq_ t_seqno_ ndatapack_ ndatabytes_ nackpack_ nrexmit_ nrexmitpack_
            nrexmitbytes_ ncwndcuts_ ncwndcuts1_ cwnd_ ssthresh_ rtt_ srtt_ rttvar_ backoff_ dupacks_}]"
    }
    foreach {name monitor} $monitored {
        puts "link $name arrivals [$monitor set parrivals_] departures [$monitor set pdepartures_] drops [$monitor set pdrops_]"
    }
    flush stdout
    exit 0
}
$ns at [get duration] finish
$ns run
