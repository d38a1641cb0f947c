// One dumbbell on ns-3, described by the command line; peer.py writes that and says what the options mean.
//
// Every flow's data crosses the bottleneck from the left to the right router. A flow without an access delay has its sender on
// the left router itself, otherwise on a node of its own behind a link that never queues; receivers are on the right router. There are no queue
// disciplines: the bottleneck's queue is the device's, counted in packets, without the one in transmission.
//
// Results go to standard output, one record a line:
//   flow INDEX received BYTES            what its application had received when the run ended
//   link arrivals A drops D lost L       the bottleneck's way forward
//   cwnd INDEX SECONDS BYTES             every change, only with --trace
//   ssthresh INDEX SECONDS BYTES
//   rtt INDEX SECONDS SECONDS            the last sample
//   value TYPE NAME VALUE                what --attributes asks for

#include <ns3/bulk-send-application.h>
#include <ns3/command-line.h>
#include <ns3/config.h>
#include <ns3/error-model.h>
#include <ns3/internet-stack-helper.h>
#include <ns3/ipv4-address-helper.h>
#include <ns3/ipv4-global-routing-helper.h>
#include <ns3/ipv4-interface-container.h>
#include <ns3/packet-sink.h>
#include <ns3/point-to-point-helper.h>
#include <ns3/point-to-point-net-device.h>
#include <ns3/rng-seed-manager.h>
#include <ns3/simulator.h>
#include <ns3/string.h>
#include <ns3/tcp-socket-base.h>
#include <ns3/uinteger.h>

#include <cstdio>
#include <list>
#include <sstream>
#include <string>
#include <vector>

using namespace ns3;

static std::vector<std::string> Split(const std::string& text, char at)
{
    std::vector<std::string> parts;
    std::stringstream rest(text);
    for (std::string part; std::getline(rest, part, at);)
    {
        parts.push_back(part);
    }
    return parts;
}

static void ListAttributes(const std::string& type)
{
    const TypeId id = TypeId::LookupByName(type);
    for (std::size_t i = 0; i < id.GetAttributeN(); ++i)
    {
        const auto about = id.GetAttribute(i);
        std::printf("value %s %s %s\n", type.c_str(), about.name.c_str(), about.initialValue->SerializeToString(about.checker).c_str());
    }
}

static void Window(const char* what, unsigned flow, uint32_t, uint32_t bytes)
{
    std::printf("%s %u %.9f %u\n", what, flow, Simulator::Now().GetSeconds(), bytes);
}

static void RoundTrip(unsigned flow, Time, Time rtt)
{
    std::printf("rtt %u %.9f %.9f\n", flow, Simulator::Now().GetSeconds(), rtt.GetSeconds());
}

// The application makes its socket when it starts.
static void Trace(Ptr<BulkSendApplication> source, unsigned flow)
{
    auto socket = source->GetSocket();
    socket->TraceConnectWithoutContext("CongestionWindow", MakeBoundCallback(&Window, "cwnd", flow));
    socket->TraceConnectWithoutContext("SlowStartThreshold", MakeBoundCallback(&Window, "ssthresh", flow));
    socket->TraceConnectWithoutContext("RTT", MakeBoundCallback(&RoundTrip, flow));
}

static uint64_t g_arrivals = 0;
static uint64_t g_drops = 0;
static uint64_t g_lost = 0;

static void Count(uint64_t* counter, Ptr<const Packet>)
{
    ++*counter;
}

int main(int argc, char* argv[])
{
    std::string rate = "10000000bps", delay = "10ms", access = "1000000000bps", duration = "1s", flows = "0:0s", drop, settings, attributes;
    unsigned queue = 100;
    unsigned seed = 1;
    unsigned smss = 1448;
    bool trace = false;
    CommandLine command;
    command.AddValue("rate", "of the bottleneck", rate);
    command.AddValue("delay", "of the bottleneck, one way", delay);
    command.AddValue("access", "rate of access links", access);
    command.AddValue("queue", "of the bottleneck, packets", queue);
    command.AddValue("duration", "of the run", duration);
    command.AddValue("flows", "start:access delay,...", flows);
    command.AddValue("drop", "packets that the bottleneck loses, counted from 0, with commas between", drop);
    command.AddValue("smss", "bytes of a segment's data", smss);
    command.AddValue("set", "TYPE::ATTRIBUTE=VALUE;...", settings);
    command.AddValue("seed", "run number of the random variables", seed);
    command.AddValue("trace", "report every change of the window", trace);
    command.AddValue("attributes", "list attributes and their defaults, of types with commas between", attributes);
    command.Parse(argc, argv);
    if (!attributes.empty())
    {
        for (const auto& type : Split(attributes, ','))
        {
            ListAttributes(type);
        }
        return 0;
    }

    RngSeedManager::SetRun(seed);
    Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(smss));
    for (const auto& setting : Split(settings, ';'))
    {
        const auto equals = setting.find('=');
        Config::SetDefault(setting.substr(0, equals), StringValue(setting.substr(equals + 1)));
    }

    NodeContainer routers(2);
    InternetStackHelper internet;
    internet.Install(routers);
    Ipv4AddressHelper addresses("10.0.0.0", "255.255.255.0");

    // Without flow control towards the layer above there is no queue besides the device's.
    PointToPointHelper bottleneck;
    bottleneck.DisableFlowControl();
    bottleneck.SetDeviceAttribute("DataRate", StringValue(rate));
    bottleneck.SetChannelAttribute("Delay", StringValue(delay));
    bottleneck.SetQueue("ns3::DropTailQueue", "MaxSize", StringValue(std::to_string(queue) + "p"));
    const auto devices = bottleneck.Install(routers);
    const auto interfaces = addresses.Assign(devices);

    const auto left = DynamicCast<PointToPointNetDevice>(devices.Get(0));
    left->TraceConnectWithoutContext("MacTx", MakeBoundCallback(&Count, &g_arrivals));
    left->TraceConnectWithoutContext("MacTxDrop", MakeBoundCallback(&Count, &g_drops));
    devices.Get(1)->TraceConnectWithoutContext("PhyRxDrop", MakeBoundCallback(&Count, &g_lost));
    std::list<uint32_t> lost;
    for (const auto& number : Split(drop, ','))
    {
        lost.push_back(std::stoul(number));
    }
    auto errors = CreateObject<ReceiveListErrorModel>();
    errors->SetList(lost);
    DynamicCast<PointToPointNetDevice>(devices.Get(1))->SetReceiveErrorModel(errors);

    PointToPointHelper beyond;
    beyond.DisableFlowControl();
    beyond.SetDeviceAttribute("DataRate", StringValue(access));
    beyond.SetQueue("ns3::DropTailQueue", "MaxSize", StringValue("1000000p"));

    std::vector<Ptr<PacketSink>> sinks;
    for (const auto& flow : Split(flows, ','))
    {
        const unsigned index = sinks.size();
        const auto parts = Split(flow, ':');
        const Time start(parts.at(0));
        const Time behind(parts.at(1));
        Ptr<Node> sender = routers.Get(0);
        if (behind.IsStrictlyPositive())
        {
            sender = CreateObject<Node>();
            internet.Install(sender);
            beyond.SetChannelAttribute("Delay", TimeValue(behind));
            addresses.NewNetwork();
            addresses.Assign(beyond.Install(sender, routers.Get(0)));
        }
        const uint16_t port = 5000 + index;
        auto sink = CreateObject<PacketSink>();
        sink->SetAttribute("Protocol", TypeIdValue(TypeId::LookupByName("ns3::TcpSocketFactory")));
        sink->SetAttribute("Local", AddressValue(InetSocketAddress(Ipv4Address::GetAny(), port)));
        routers.Get(1)->AddApplication(sink);
        sinks.push_back(sink);

        auto source = CreateObject<BulkSendApplication>();
        source->SetAttribute("Protocol", TypeIdValue(TypeId::LookupByName("ns3::TcpSocketFactory")));
        source->SetAttribute("Remote", AddressValue(InetSocketAddress(interfaces.GetAddress(1), port)));
        source->SetAttribute("SendSize", UintegerValue(smss));
        source->SetStartTime(start);
        sender->AddApplication(source);
        if (trace)
        {
            Simulator::Schedule(start + NanoSeconds(1), &Trace, source, index);
        }
    }
    Ipv4GlobalRoutingHelper::PopulateRoutingTables();

    Simulator::Stop(Time(duration));
    Simulator::Run();
    for (unsigned i = 0; i < sinks.size(); ++i)
    {
        std::printf("flow %u received %llu\n", i, static_cast<unsigned long long>(sinks[i]->GetTotalRx()));
    }
    std::printf("link arrivals %llu drops %llu lost %llu\n",
                static_cast<unsigned long long>(g_arrivals),
                static_cast<unsigned long long>(g_drops),
                static_cast<unsigned long long>(g_lost));
    Simulator::Destroy();
    return 0;
}
