// SPDX-License-Identifier: Apache-2.0

// kubelet is what a device plugin sees of a kubelet, and no more: it takes registrations on a socket, connects back, asks
// for the first device of each list, and prints all that as one line of JSON, so that a test knows what pods of the node
// could ask for, and what they would get.
//
// Usage: kubelet DIR, where DIR is /var/lib/kubelet/device-plugins for the plugin.
//
//	{"resource":"openshift.io/dpdk","devices":["0000:01:10.0","0000:01:10.2"],"files":["/dev/vfio/7","/dev/vfio/vfio"]}
//	{"resource":"openshift.io/dpdk","gone":true}
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

// news is one line: the healthy devices of a resource and the host's files that the first of them comes with, or that its
// plugin has gone.
type news struct {
	Resource string   `json:"resource"`
	Devices  []string `json:"devices,omitempty"`
	Files    []string `json:"files,omitempty"`
	Gone     bool     `json:"gone,omitempty"`
}

type kubelet struct {
	directory string
	mutex     sync.Mutex
	lines     *json.Encoder
	// The healthy devices by resource; empty for a resource whose plugin has gone.
	registered map[string][]string
}

// checkpoint is the file of a kubelet that says what is registered, without what pods have (pkg/kubelet/cm/devicemanager/checkpoint).
type checkpoint struct {
	Data struct {
		PodDeviceEntries  []string
		RegisteredDevices map[string][]string
	}
	Checksum uint64
}

func main() {
	if len(os.Args) != 2 {
		log.Fatal("usage: kubelet DIR")
	}
	directory := os.Args[1]
	listener, err := listen(filepath.Join(directory, "kubelet.sock"))
	if err != nil {
		log.Fatal(err)
	}
	server := grpc.NewServer()
	known := &kubelet{directory: directory, lines: json.NewEncoder(os.Stdout), registered: map[string][]string{}}
	pluginapi.RegisterRegistrationServer(server, known)
	log.Fatal(server.Serve(listener))
}

// listen makes a socket that accepts connections as soon as its name appears. The file of a socket exists before it
// accepts any, and the plugin ends if its first connection is refused.
func listen(socket string) (net.Listener, error) {
	unnamed := socket + ".new"
	if err := os.Remove(unnamed); err != nil && !os.IsNotExist(err) {
		return nil, err
	}
	listener, err := net.Listen("unix", unnamed)
	if err != nil {
		return nil, err
	}
	return listener, os.Rename(unnamed, socket)
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
	plugin := pluginapi.NewDevicePluginClient(connection)
	stream, err := plugin.ListAndWatch(context.Background(), &pluginapi.Empty{})
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
		files, err := allocate(plugin, devices)
		if err != nil {
			log.Printf("%s: %v", resource, err)
			return
		}
		k.print(news{Resource: resource, Devices: devices, Files: files})
	}
}

// allocate asks for the first device as for a pod, and answers the files that its container would have.
func allocate(plugin pluginapi.DevicePluginClient, devices []string) ([]string, error) {
	if len(devices) == 0 {
		return nil, nil
	}
	container := &pluginapi.ContainerAllocateRequest{DevicesIDs: devices[:1]}
	request := &pluginapi.AllocateRequest{ContainerRequests: []*pluginapi.ContainerAllocateRequest{container}}
	answer, err := plugin.Allocate(context.Background(), request)
	if err != nil {
		return nil, err
	}
	files := []string{}
	for _, response := range answer.ContainerResponses {
		for _, device := range response.Devices {
			files = append(files, device.HostPath)
		}
	}
	sort.Strings(files)
	return files, nil
}

func (k *kubelet) print(line news) {
	k.mutex.Lock()
	defer k.mutex.Unlock()
	k.registered[line.Resource] = line.Devices
	if err := k.writeCheckpoint(); err != nil {
		log.Fatal(err)
	}
	if err := k.lines.Encode(line); err != nil {
		log.Fatal(err)
	}
}

// writeCheckpoint replaces the file, as a kubelet does at each change.
func (k *kubelet) writeCheckpoint() error {
	content := checkpoint{}
	content.Data.RegisteredDevices = k.registered
	text, err := json.Marshal(content)
	if err != nil {
		return err
	}
	path := filepath.Join(k.directory, "kubelet_internal_checkpoint")
	if err := os.WriteFile(path+".new", text, 0o600); err != nil {
		return err
	}
	return os.Rename(path+".new", path)
}
