package egress_test

// forbidden holds at least one address of every range that an upstream may not
// lie in: the edges of the big ones, and those that clouds serve secrets from.
var forbidden = []string{
	// this network, unspecified
	"0.0.0.0", "0.0.0.1", "0.255.255.255",
	// loopback
	"127.0.0.1", "127.0.0.2", "127.1.2.3", "127.255.255.255",
	// RFC 1918
	"10.0.0.0", "10.0.0.1", "10.255.255.255", "172.16.0.0", "172.16.0.1", "172.31.255.255",
	"192.168.0.1", "192.168.255.255",
	// carrier-grade NAT, and Alibaba's metadata service in it
	"100.64.0.0", "100.64.0.1", "100.100.100.200", "100.127.255.255",
	// link-local, and the metadata services of AWS, GCP, Azure, ECS
	"169.254.0.1", "169.254.169.254", "169.254.170.2", "169.254.255.255",
	// IETF protocol assignments, with Oracle's metadata service
	"192.0.0.1", "192.0.0.170", "192.0.0.192",
	// documentation
	"192.0.2.1", "198.51.100.1", "203.0.113.1", "203.0.113.255",
	// benchmarking
	"198.18.0.0", "198.18.0.1", "198.19.255.255",
	// 6to4 relays, AS112, AMT
	"192.88.99.1", "192.31.196.1", "192.175.48.1", "192.52.193.1",
	// public addresses that clouds answer their own machines at: Azure, IBM Cloud, Equinix Metal
	"168.63.129.16", "161.26.0.10", "166.8.0.1", "166.11.255.254", "192.80.8.124",
	// multicast, reserved, broadcast
	"224.0.0.1", "239.255.255.250", "239.255.255.255", "240.0.0.1", "254.0.0.1", "255.255.255.255",

	// IPv6: unspecified, loopback
	"::", "::1",
	// IPv4-mapped, in both spellings
	"::ffff:127.0.0.1", "::ffff:7f00:1", "::ffff:10.0.0.1", "::ffff:169.254.169.254", "::ffff:0.0.0.0",
	// IPv4-compatible and IPv4-translated
	"::127.0.0.1", "::7f00:1", "::ffff:0:127.0.0.1",
	// NAT64, well-known and local-use
	"64:ff9b::7f00:1", "64:ff9b::a00:1", "64:ff9b::808:808", "64:ff9b:1::1",
	// 6to4
	"2002:7f00:1::1", "2002:a00:1::", "2002:c0a8:101::1",
	// Teredo, ORCHID, benchmarking and the rest of 2001::/23
	"2001::1", "2001:0:7f00:1::", "2001:2::1", "2001:10::1", "2001:20::1",
	// documentation
	"2001:db8::1", "3fff::1",
	// discard only, segment routing
	"100::1", "5f00::1",
	// unique local, with AWS's metadata service
	"fc00::1", "fd00::1", "fd00:ec2::254", "fdff:ffff::1",
	// link-local, site-local
	"fe80::1", "febf::1", "fec0::1", "feff::1",
	// multicast
	"ff00::1", "ff02::1", "ff05::2", "ff0e::1",
	// outside global unicast
	"4000::1", "e000::1", "1::1",
}

// public holds addresses right next to forbidden ranges that must stay open.
var public = []string{
	"1.1.1.1", "8.8.8.8", "9.255.255.255", "11.0.0.0", "100.63.255.255", "100.128.0.0", "126.255.255.255", "128.0.0.1",
	"168.63.129.15", "168.63.129.17", "161.25.255.255", "161.27.0.0", "166.7.255.255", "166.12.0.0",
	"169.253.255.255", "169.255.0.0", "172.15.255.255", "172.32.0.0", "192.167.255.255", "192.169.0.0",
	"198.17.255.255", "198.20.0.0", "223.255.255.255", "2606:4700:4700::1111", "2001:4860:4860::8888",
	"2a00:1450::1", "2400:cb00::1",
}
