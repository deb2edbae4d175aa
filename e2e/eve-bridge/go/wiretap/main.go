// SPDX-License-Identifier: Apache-2.0

// Wiretap prints one line of JSON for each DHCP message that reaches an interface, before the kernel's IP layer judges
// it: a DHCPRELEASE from 0.0.0.0 to the server's own address is dropped there, and only the wire shows that it was sent
// (eve-and-afxdp.md a9).
//
// Usage: wiretap INTERFACE
package main

import (
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"syscall"
)

var names = map[byte]string{
	1: "DISCOVER", 2: "OFFER", 3: "REQUEST", 4: "DECLINE", 5: "ACK", 6: "NAK", 7: "RELEASE", 8: "INFORM",
}

type message struct {
	Type     string `json:"type"`
	MAC      string `json:"mac"`
	ClientID string `json:"clientId"`
	// The address that the client has, and the one that the server gives it.
	CIAddr string `json:"ciaddr"`
	YIAddr string `json:"yiaddr"`
}

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: wiretap INTERFACE")
		os.Exit(64)
	}
	if err := tap(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func tap(name string) error {
	iface, err := net.InterfaceByName(name)
	if err != nil {
		return err
	}
	const protocol = syscall.ETH_P_ALL << 8 // in network order on the little-endian machines we have
	fd, err := syscall.Socket(syscall.AF_PACKET, syscall.SOCK_RAW, int(protocol))
	if err != nil {
		return err
	}
	if err := syscall.Bind(fd, &syscall.SockaddrLinklayer{Protocol: protocol, Ifindex: iface.Index}); err != nil {
		return err
	}
	fmt.Println(`{"type":"TAPPING"}`)
	frame := make([]byte, 65536)
	for {
		n, _, err := syscall.Recvfrom(fd, frame, 0)
		if err != nil {
			return err
		}
		m, ok := parse(frame[:n])
		if !ok {
			continue
		}
		line, err := json.Marshal(m)
		if err != nil {
			return err
		}
		fmt.Println(string(line))
	}
}

// parse reads Ethernet, IPv4, UDP, DHCP; anything else is not for us.
func parse(frame []byte) (message, bool) {
	if len(frame) < 14+20 || binary.BigEndian.Uint16(frame[12:]) != syscall.ETH_P_IP {
		return message{}, false
	}
	ip := frame[14:]
	header := int(ip[0]&15) * 4
	if ip[9] != syscall.IPPROTO_UDP || len(ip) < header+8+240 {
		return message{}, false
	}
	udp := ip[header:]
	if port := binary.BigEndian.Uint16(udp[2:]); port != 67 && port != 68 {
		return message{}, false
	}
	dhcp := udp[8:]
	m := message{
		MAC:    net.HardwareAddr(dhcp[28:34]).String(),
		CIAddr: net.IP(dhcp[12:16]).String(),
		YIAddr: net.IP(dhcp[16:20]).String(),
	}
	for options := dhcp[240:]; len(options) > 1 && options[0] != 255; {
		if options[0] == 0 {
			options = options[1:]
			continue
		}
		length := int(options[1])
		if len(options) < 2+length {
			break
		}
		value := options[2 : 2+length]
		switch options[0] {
		case 53:
			m.Type = names[value[0]]
		case 61:
			m.ClientID = hex.EncodeToString(value)
		}
		options = options[2+length:]
	}
	return m, m.Type != ""
}
