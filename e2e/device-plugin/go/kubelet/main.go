// SPDX-License-Identifier: Apache-2.0

// kubelet is what a device plugin sees of a kubelet, and no more: it takes registrations on a socket, connects back, and
// prints each list of devices as one line of JSON, so that a test knows what pods of the node could ask for.
//
// Usage: kubelet DIR, where DIR is /var/lib/kubelet/device-plugins for the plugin.
//
//	{"resource":"openshift.io/fast","devices":["0000:01:10.0","0000:01:10.2"]}
//	{"resource":"openshift.io/fast","gone":true}
package main

import (
	"context"
	"encoding/json"
	"log"
	"net"
	"os"
	"path/filepath"
	"sort"
	"sync"

	"google.golang.org/grpc"
	pluginapi "k8s.io/kubelet/pkg/apis/deviceplugin/v1beta1"
)

// news is one line: the healthy devices of a resource, or that its plugin has gone.
type news struct {
	Resource string   `json:"resource"`
	Devices  []string `json:"devices,omitempty"`
	Gone     bool     `json:"gone,omitempty"`
}

type kubelet struct {
	directory string
	mutex     sync.Mutex
	lines     *json.Encoder
}

func main() {
	if len(os.Args) != 2 {
		log.Fatal("usage: kubelet DIR")
	}
	directory := os.Args[1]
	socket := filepath.Join(directory, "kubelet.sock")
	if err := os.Remove(socket); err != nil && !os.IsNotExist(err) {
		log.Fatal(err)
	}
	listener, err := net.Listen("unix", socket)
	if err != nil {
		log.Fatal(err)
	}
	server := grpc.NewServer()
	pluginapi.RegisterRegistrationServer(server, &kubelet{directory: directory, lines: json.NewEncoder(os.Stdout)})
	log.Fatal(server.Serve(listener))
}

// Register is what the plugin calls for each of its resources.
func (k *kubelet) Register(_ context.Context, request *pluginapi.RegisterRequest) (*pluginapi.Empty, error) {
	go k.follow(request.ResourceName, filepath.Join(k.directory, request.Endpoint))
	return &pluginapi.Empty{}, nil
}

// follow prints what the plugin says of a resource until it ends.
func (k *kubelet) follow(resource, endpoint string) {
	defer k.print(news{Resource: resource, Gone: true})
	connection, err := grpc.Dial("unix:"+endpoint, grpc.WithInsecure())
	if err != nil {
		log.Printf("%s: %v", resource, err)
		return
	}
	defer connection.Close()
	stream, err := pluginapi.NewDevicePluginClient(connection).ListAndWatch(context.Background(), &pluginapi.Empty{})
	if err != nil {
		log.Printf("%s: %v", resource, err)
		return
	}
	for {
		answer, err := stream.Recv()
		if err != nil {
			return
		}
		devices := []string{}
		for _, device := range answer.Devices {
			if device.Health == pluginapi.Healthy {
				devices = append(devices, device.ID)
			}
		}
		sort.Strings(devices)
		k.print(news{Resource: resource, Devices: devices})
	}
}

func (k *kubelet) print(line news) {
	k.mutex.Lock()
	defer k.mutex.Unlock()
	if err := k.lines.Encode(line); err != nil {
		log.Fatal(err)
	}
}
