// One of ns-3's queue disciplines, fed with packets at given times and emptied by a transmitter of a given rate; bench/queues.py writes the
// command line and says what the options mean.
//
// The discipline is driven as ns-3's traffic control layer drives it above a device with flow control: it is asked to run after every packet
// that comes and whenever the device is free. The device here holds nothing but the packet that it is sending.
//
// The file of arrivals has one a line, in the order of their times: NANOSECONDS FLOW BYTES ECN, with the ECN field as a number (0 not capable,
// 1 ECT(1), 2 ECT(0)). After the last one the queue runs empty. The mean is over the time until --until.
//
// Results go to standard output:
//   flow INDEX arrived N dropped N marked N waited SECONDS     packets, and the sum of what those that left have waited
//   queue packets X bytes X                                    means over time of what waits
//   left NUMBER NANOSECONDS ECN                                every packet that left, by its line in the file from 0, only with --fates
//   value TYPE NAME VALUE                                      what --attributes asks for

#include <ns3/boolean.h>
#include <ns3/command-line.h>
#include <ns3/config.h>
#include <ns3/data-rate.h>
#include <ns3/fq-codel-queue-disc.h>
#include <ns3/fq-pie-queue-disc.h>
#include <ns3/ipv4-queue-disc-item.h>
#include <ns3/net-device-queue-interface.h>
#include <ns3/object-factory.h>
#include <ns3/queue-disc.h>
#include <ns3/rng-seed-manager.h>
#include <ns3/simulator.h>
#include <ns3/string.h>
#include <ns3/udp-header.h>

#include <cstdio>
#include <fstream>
#include <sstream>
#include <string>
#include <unordered_map>
#include <vector>

using namespace ns3;

struct Arrival
{
    std::size_t number;
    int64_t ns;
    unsigned flow;
    unsigned bytes;
    unsigned ecn;
};

struct Flow
{
    uint64_t arrived = 0;
    uint64_t left = 0;
    uint64_t marked = 0;
    double waited = 0.0;
};

class Bench
{
  public:
    Bench(Ptr<QueueDisc> disc, DataRate rate, std::vector<Arrival> arrivals, Time until, bool fates)
        : m_disc(disc),
          m_rate(rate),
          m_arrivals(std::move(arrivals)),
          m_until(until),
          m_fates(fates)
    {
        m_device = CreateObject<NetDeviceQueueInterface>();
        m_device->GetTxQueue(0)->SetWakeCallback(MakeCallback(&QueueDisc::Run, PeekPointer(m_disc)));
        m_disc->SetNetDeviceQueueInterface(m_device);
        m_disc->SetSendCallback([this](Ptr<QueueDiscItem> item) { Send(item); });
        m_disc->Initialize();
        Expect();
    }

    void Report()
    {
        for (std::size_t i = 0; i < m_flows.size(); ++i)
        {
            const Flow& flow = m_flows[i];
            std::printf("flow %zu arrived %lu dropped %lu marked %lu waited %.12g\n", i, flow.arrived, flow.arrived - flow.left, flow.marked, flow.waited);
        }
        std::printf("queue packets %.12g bytes %.12g\n", m_packets / m_until.GetSeconds(), m_bytes / m_until.GetSeconds());
    }

  private:
    void Expect()
    {
        if (m_next < m_arrivals.size())
        {
            Simulator::Schedule(NanoSeconds(m_arrivals[m_next].ns) - Simulator::Now(), &Bench::Arrive, this);
        }
    }

    // What waited has done so since the last change, and what waits does so from now on.
    void Look()
    {
        const Time now = std::min(Simulator::Now(), m_until);
        const double span = (now - m_since).GetSeconds();
        m_packets += span * m_waitingPackets;
        m_bytes += span * m_waitingBytes;
        m_since = now;
        m_waitingPackets = m_disc->GetNPackets();
        m_waitingBytes = m_disc->GetNBytes();
    }

    void Arrive()
    {
        const Arrival& arrival = m_arrivals[m_next++];
        m_flows.resize(std::max<std::size_t>(m_flows.size(), arrival.flow + 1));
        m_flows[arrival.flow].arrived++;
        UdpHeader udp;
        udp.SetSourcePort(1000 + arrival.flow);
        udp.SetDestinationPort(5000);
        // An IP header is 20 bytes, a UDP header 8.
        auto packet = Create<Packet>(arrival.bytes - 28);
        packet->AddHeader(udp);
        Ipv4Header ip;
        ip.SetSource("10.0.0.1");
        ip.SetDestination("10.0.0.2");
        ip.SetProtocol(17);
        ip.SetPayloadSize(arrival.bytes - 20);
        ip.SetEcn(static_cast<Ipv4Header::EcnType>(arrival.ecn));
        m_known[packet->GetUid()] = {arrival, Simulator::Now()};
        m_disc->Enqueue(Create<Ipv4QueueDiscItem>(packet, Address(), 0x0800, ip));
        m_disc->Run();
        Look();
        Expect();
    }

    void Send(Ptr<QueueDiscItem> item)
    {
        Look();
        const auto known = m_known.find(item->GetPacket()->GetUid());
        const auto& [arrival, came] = known->second;
        Flow& flow = m_flows[arrival.flow];
        flow.left++;
        flow.waited += (Simulator::Now() - came).GetSeconds();
        const auto ecn = DynamicCast<Ipv4QueueDiscItem>(item)->GetHeader().GetEcn();
        flow.marked += ecn == Ipv4Header::ECN_CE && arrival.ecn != 3;
        if (m_fates)
        {
            std::printf("left %zu %ld %u\n", arrival.number, Simulator::Now().GetNanoSeconds(), static_cast<unsigned>(ecn));
        }
        m_device->GetTxQueue(0)->Stop();
        Simulator::Schedule(m_rate.CalculateBytesTxTime(arrival.bytes), &Bench::Free, this);
        m_known.erase(known);
    }

    void Free()
    {
        // The queue is asked to run at once, but after this.
        m_device->GetTxQueue(0)->Wake();
        Simulator::ScheduleNow(&Bench::Look, this);
    }

    Ptr<QueueDisc> m_disc;
    DataRate m_rate;
    std::vector<Arrival> m_arrivals;
    Time m_until;
    bool m_fates;
    Ptr<NetDeviceQueueInterface> m_device;
    std::size_t m_next = 0;
    std::vector<Flow> m_flows;
    std::unordered_map<uint64_t, std::pair<Arrival, Time>> m_known;
    Time m_since;
    uint32_t m_waitingPackets = 0;
    uint32_t m_waitingBytes = 0;
    double m_packets = 0.0;
    double m_bytes = 0.0;
};

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

int main(int argc, char* argv[])
{
    std::string type = "ns3::FifoQueueDisc", rate = "10000000bps", until = "1s", file, settings, attributes;
    unsigned seed = 1;
    unsigned quantum = 1514;
    bool fates = false;
    CommandLine command;
    command.AddValue("type", "the discipline", type);
    command.AddValue("set", "ATTRIBUTE=VALUE;... of the discipline", settings);
    command.AddValue("quantum", "bytes, of the disciplines that have one and take it from their device", quantum);
    command.AddValue("rate", "of the transmitter", rate);
    command.AddValue("arrivals", "the file of arrivals", file);
    command.AddValue("until", "end of the time over which means are taken", until);
    command.AddValue("seed", "run number of the random variables", seed);
    command.AddValue("fates", "report every packet that leaves", fates);
    command.AddValue("attributes", "list attributes and their defaults, of types with commas between", attributes);
    command.Parse(argc, argv);
    if (!attributes.empty())
    {
        for (const auto& name : Split(attributes, ','))
        {
            ListAttributes(name);
        }
        return 0;
    }

    RngSeedManager::SetRun(seed);
    ObjectFactory factory;
    factory.SetTypeId(type);
    for (const auto& setting : Split(settings, ';'))
    {
        const auto equals = setting.find('=');
        factory.Set(setting.substr(0, equals), StringValue(setting.substr(equals + 1)));
    }
    auto disc = factory.Create<QueueDisc>();
    if (auto fair = DynamicCast<FqCoDelQueueDisc>(disc))
    {
        fair->SetQuantum(quantum);
    }
    if (auto fair = DynamicCast<FqPieQueueDisc>(disc))
    {
        fair->SetQuantum(quantum);
    }

    std::vector<Arrival> arrivals;
    std::ifstream input(file);
    for (Arrival arrival{}; input >> arrival.ns >> arrival.flow >> arrival.bytes >> arrival.ecn;)
    {
        arrivals.push_back(arrival);
        ++arrival.number;
    }
    const Time end(until);
    Bench bench(disc, DataRate(rate), std::move(arrivals), end, fates);
    // Some disciplines have timers that never end: ten seconds empty any queue here.
    Simulator::Stop(end + Seconds(10));
    Simulator::Run();
    bench.Report();
    Simulator::Destroy();
    return 0;
}
