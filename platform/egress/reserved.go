package egress

import (
	"net/netip"
	"slices"
)

// platformPrefixes are public addresses at which cloud platforms serve only machines
// in their own networks, such as this one. The metadata addresses of other platforms
// are in special-purpose ranges: 169.254.169.254 (AWS, Google, Azure and more),
// 192.0.0.192 (Oracle), 100.100.100.200 (Alibaba), fd00:ec2::254 (AWS), fd20:ce::254
// (Google).
var platformPrefixes = []netip.Prefix{
	// Azure: wire server, DNS, health probes ["What is IP address 168.63.129.16?"]
	netip.MustParsePrefix("168.63.129.16/32"),
	// IBM Cloud: infrastructure service endpoints ["Service endpoints available for VPC"]
	netip.MustParsePrefix("161.26.0.0/16"),
	netip.MustParsePrefix("166.8.0.0/14"),    // IBM Cloud: cloud service endpoints [the same page]
	netip.MustParsePrefix("192.80.8.124/32"), // Equinix Metal: metadata.platformequinix.com
}

// badPorts are the ports of protocols whose servers could execute an HTTP request as
// commands [WHATWG Fetch, 2.9 "Port blocking"].
var badPorts = []uint16{
	1, 7, 9, 11, 13, 15, 17, 19, 20, 21, 22, 23, 25, 37, 42, 43, 53, 69, 77, 79, 87, 95, 101, 102, 103, 104, 109, 110,
	111, 113, 115, 117, 119, 123, 135, 137, 139, 143, 161, 179, 389, 427, 465, 512, 513, 514, 515, 526, 530, 531, 532,
	540, 548, 554, 556, 563, 587, 601, 636, 989, 990, 993, 995, 1719, 1720, 1723, 2049, 3659, 4045, 4190, 5060, 5061,
	6000, 6566, 6665, 6666, 6667, 6668, 6669, 6679, 6697, 10080,
}

// dataPorts are the ports of databases, brokers and remote desktops, which browsers do
// not block and no HTTP API uses. Databases with an HTTP API (Elasticsearch, CouchDB,
// InfluxDB) are not listed [IANA Service Name and Transport Protocol Port Number
// Registry].
var dataPorts = []uint16{
	445,        // SMB
	873,        // rsync
	1433, 1434, // SQL Server
	1521,       // Oracle
	1883,       // MQTT
	2181,       // ZooKeeper
	3050,       // Firebird
	3268, 3269, // Active Directory's global catalog
	3306, 33060, // MySQL
	3389,       // RDP
	4222,       // NATS
	5432, 6432, // PostgreSQL, PgBouncer
	5671, 5672, // AMQP
	5900,               // VNC
	6379, 16379, 26379, // Redis, its cluster bus, Sentinel
	7687,                // Neo4j
	9042,                // Cassandra
	9092,                // Kafka
	11211,               // memcached
	27017, 27018, 27019, // MongoDB
	61613, 61616, // STOMP, ActiveMQ
}

// isReservedPort reports whether the port belongs to a protocol other than HTTP.
func isReservedPort(port uint16) bool {
	return slices.Contains(badPorts, port) || slices.Contains(dataPorts, port)
}
