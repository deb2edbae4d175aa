// SPDX-License-Identifier: Apache-2.0

// Judge stands in for zedrouter on the standard library's net/rpc/jsonrpc, as zedrouter itself does: what it can decode,
// zedrouter can. It makes no interfaces. For each request it prints one line of JSON: the method, the arguments as Go
// understood them, and whether the bytes are those that Go's own client would have sent.
//
// Usage: judge SOCKET
package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/rpc"
	"net/rpc/jsonrpc"
	"os"
	"strings"
	"sync"
)

// The structs of the protocol (eve-and-afxdp.md a5). Members that only later zedrouters have are left out when empty, so
// that one set serves for both.

type AppPod struct {
	Name      string
	Namespace string `json:",omitempty"`
	NetNsPath string
}

type NetInterface struct {
	Name      string
	MAC       net.HardwareAddr
	NetNsPath string
}

type Common struct {
	Pod             AppPod
	PodInterface    NetInterface
	NetworkInstance string `json:",omitempty"`
}

type IPAddress struct {
	Address *net.IPNet
	Gateway net.IP
}

type Route struct {
	Dst *net.IPNet
	GW  net.IP
}

type DNS struct {
	Nameservers []string
	Domain      string
	Search      []string
	Options     []string
}

type L2Args struct{ Common }

type L3Args struct {
	Common
	IPs    []IPAddress
	Routes []Route
	DNS    DNS
}

type DisconnectArgs struct{ Common }

type CheckArgs struct{ Common }

type L2Reply struct {
	AppUUID    string
	UseDHCP    bool
	Interfaces []NetInterface
}

type L3Reply struct{ AppUUID string }

type DisconnectReply struct {
	AppUUID  string
	UsedDHCP bool
}

type CheckReply struct {
	AppUUID  string
	UsesDHCP bool
}

const appUUID = "deadbeef-0102-0304-0506-0708090a0b0c"

// RPCServer has zedrouter's four methods. A pod whose name has "refused" is refused, one with "nodhcp" has no DHCP.
type RPCServer struct{ wire *wire }

func (s *RPCServer) ConnectPodAtL2(args L2Args, reply *L2Reply) error {
	s.wire.report("ConnectPodAtL2", args)
	if strings.Contains(args.Pod.Name, "refused") {
		return fmt.Errorf("failed to find app network status for pod %s", args.Pod.Name)
	}
	*reply = L2Reply{appUUID, !strings.Contains(args.Pod.Name, "nodhcp"), []NetInterface{
		{Name: "bn1", MAC: net.HardwareAddr{2, 0x16, 0x3e, 0, 0, 1}},
		{Name: "nbu1x1"},
		args.PodInterface,
	}}
	return nil
}

func (s *RPCServer) ConnectPodAtL3(args L3Args, reply *L3Reply) error {
	s.wire.report("ConnectPodAtL3", args)
	reply.AppUUID = appUUID
	return nil
}

func (s *RPCServer) DisconnectPod(args DisconnectArgs, reply *DisconnectReply) error {
	s.wire.report("DisconnectPod", args)
	if strings.Contains(args.Pod.Name, "stuck") {
		return errors.New("context deadline exceeded")
	}
	*reply = DisconnectReply{appUUID, !strings.Contains(args.Pod.Name, "nodhcp")}
	return nil
}

func (s *RPCServer) CheckPodConnection(args CheckArgs, reply *CheckReply) error {
	s.wire.report("CheckPodConnection", args)
	*reply = CheckReply{appUUID, !strings.Contains(args.Pod.Name, "nodhcp")}
	return nil
}

// wire is a connection that remembers what has come since the last report.
type wire struct {
	io.ReadWriteCloser
	mutex sync.Mutex
	came  bytes.Buffer
	calls uint64
}

func (w *wire) Read(p []byte) (int, error) {
	n, err := w.ReadWriteCloser.Read(p)
	w.mutex.Lock()
	defer w.mutex.Unlock()
	w.came.Write(p[:n])
	return n, err
}

// report compares the bytes of a request with those that Go's client writes for the same arguments.
func (w *wire) report(method string, args any) {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	var own bytes.Buffer
	request := struct {
		Method string `json:"method"`
		Params [1]any `json:"params"`
		ID     uint64 `json:"id"`
	}{"RPCServer." + method, [1]any{args}, w.calls}
	if err := json.NewEncoder(&own).Encode(request); err != nil {
		panic(err)
	}
	line, err := json.Marshal(map[string]any{
		"method": method,
		"args":   args,
		"same":   bytes.Equal(own.Bytes(), w.came.Bytes()),
		"wire":   w.came.String(),
	})
	if err != nil {
		panic(err)
	}
	fmt.Println(string(line))
	w.came.Reset()
	w.calls++
}

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: judge SOCKET")
		os.Exit(64)
	}
	listener, err := net.Listen("unix", os.Args[1])
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Println(`{"listening":true}`)
	for {
		conn, err := listener.Accept()
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		w := &wire{ReadWriteCloser: conn}
		server := rpc.NewServer()
		if err := server.Register(&RPCServer{w}); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		go server.ServeCodec(jsonrpc.NewServerCodec(w))
	}
}
