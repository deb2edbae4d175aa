// SPDX-License-Identifier: Apache-2.0

// Command vectors prints what a container runtime and a plugin of NRI send to each other, as JSON: the packages of containerd call each
// other over their own multiplexer, and the bytes between them are recorded.
package main

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"log"
	"net"
	"os"
	"sync"

	"github.com/containerd/nri/pkg/api"
	"github.com/containerd/nri/pkg/net/multiplex"
	"github.com/containerd/ttrpc"
)

type vector struct {
	Call string `json:"call"`
	// Bytes of the caller and of the callee, with the headers of multiplexer and ttrpc.
	Request  string `json:"request"`
	Response string `json:"response"`
}

// recorder is a connection that remembers what is written to it.
type recorder struct {
	net.Conn
	lock  sync.Mutex
	bytes []byte
}

func (r *recorder) Write(bytes []byte) (int, error) {
	r.lock.Lock()
	r.bytes = append(r.bytes, bytes...)
	r.lock.Unlock()
	return r.Conn.Write(bytes)
}

func (r *recorder) take() string {
	r.lock.Lock()
	defer r.lock.Unlock()
	taken := hex.EncodeToString(r.bytes)
	r.bytes = nil
	return taken
}

type plugin struct{ api.PluginService }

func (plugin) Configure(context.Context, *api.ConfigureRequest) (*api.ConfigureResponse, error) {
	mask := api.EventMask(0)
	mask.Set(api.Event_RUN_POD_SANDBOX, api.Event_STOP_POD_SANDBOX, api.Event_REMOVE_POD_SANDBOX)
	return &api.ConfigureResponse{Events: int32(mask)}, nil
}

func (plugin) Synchronize(_ context.Context, request *api.SynchronizeRequest) (*api.SynchronizeResponse, error) {
	return &api.SynchronizeResponse{More: request.More}, nil
}

func (plugin) Shutdown(context.Context, *api.Empty) (*api.Empty, error) { return &api.Empty{}, nil }

func (plugin) RunPodSandbox(context.Context, *api.RunPodSandboxRequest) (*api.RunPodSandboxResponse, error) {
	return nil, errors.New("no network")
}

func (plugin) StopPodSandbox(context.Context, *api.StopPodSandboxRequest) (*api.StopPodSandboxResponse, error) {
	return &api.StopPodSandboxResponse{}, nil
}

func (plugin) RemovePodSandbox(context.Context, *api.RemovePodSandboxRequest) (*api.RemovePodSandboxResponse, error) {
	return &api.RemovePodSandboxResponse{}, nil
}

func (plugin) StateChange(context.Context, *api.StateChangeEvent) (*api.Empty, error) {
	return &api.Empty{}, nil
}

type runtime struct{ api.RuntimeService }

func (runtime) RegisterPlugin(context.Context, *api.RegisterPluginRequest) (*api.Empty, error) {
	return &api.Empty{}, nil
}

func must[T any](value T, err error) T {
	if err != nil {
		log.Fatal(err)
	}
	return value
}

func serve(mux multiplex.Mux, id multiplex.ConnID, register func(*ttrpc.Server)) {
	server := must(ttrpc.NewServer())
	register(server)
	listener := must(mux.Listen(id))
	go server.Serve(context.Background(), listener)
}

func main() {
	left, right := net.Pipe()
	ofRuntime, ofPlugin := &recorder{Conn: left}, &recorder{Conn: right}
	runtimeMux, pluginMux := multiplex.Multiplex(ofRuntime), multiplex.Multiplex(ofPlugin)
	serve(pluginMux, multiplex.PluginServiceConn, func(s *ttrpc.Server) { api.RegisterPluginService(s, plugin{}) })
	serve(runtimeMux, multiplex.RuntimeServiceConn, func(s *ttrpc.Server) { api.RegisterRuntimeService(s, runtime{}) })
	toPlugin := ttrpc.NewClient(must(runtimeMux.Open(multiplex.PluginServiceConn)))
	toRuntime := ttrpc.NewClient(must(pluginMux.Open(multiplex.RuntimeServiceConn)))

	pod := &api.PodSandbox{
		Id: "0af1", Name: "web-0", Uid: "1b2c", Namespace: "apps",
		Labels:      map[string]string{"app": "web"},
		Annotations: map[string]string{"example.com/key": "value"},
		Linux: &api.LinuxPodSandbox{Namespaces: []*api.LinuxNamespace{
			{Type: "pid"}, {Type: "network", Path: "/var/run/netns/cni-1"},
		}},
		Pid: 4711, Ips: []string{"10.0.0.7"},
	}
	onHost := &api.PodSandbox{Id: "0af2", Name: "agent", Uid: "1b2d", Namespace: "apps"}
	client := api.NewPluginClient(toPlugin)
	ctx := context.Background()
	calls := []struct {
		name string
		call func() error
	}{
		{"RegisterPlugin", func() error {
			_, err := api.NewRuntimeClient(toRuntime).RegisterPlugin(ctx, &api.RegisterPluginRequest{PluginName: "example", PluginIdx: "50"})
			return err
		}},
		{"Configure", func() error {
			_, err := client.Configure(ctx, &api.ConfigureRequest{
				RuntimeName: "containerd", RuntimeVersion: "v2.4.2", RegistrationTimeout: 5000, RequestTimeout: 2000, NRIVersion: "v0.12.0",
			})
			return err
		}},
		{"Synchronize, first part", func() error {
			_, err := client.Synchronize(ctx, &api.SynchronizeRequest{Pods: []*api.PodSandbox{pod}, More: true})
			return err
		}},
		{"Synchronize, last part", func() error {
			_, err := client.Synchronize(ctx, &api.SynchronizeRequest{
				Pods: []*api.PodSandbox{onHost}, Containers: []*api.Container{{Id: "c1", PodSandboxId: "0af2", Name: "agent"}},
			})
			return err
		}},
		{"RunPodSandbox", func() error {
			_, err := client.RunPodSandbox(ctx, &api.RunPodSandboxRequest{Pod: pod})
			return err
		}},
		{"StopPodSandbox", func() error {
			_, err := client.StopPodSandbox(ctx, &api.StopPodSandboxRequest{Pod: pod})
			return err
		}},
		{"RemovePodSandbox", func() error {
			_, err := client.RemovePodSandbox(ctx, &api.RemovePodSandboxRequest{Pod: pod})
			return err
		}},
		{"StateChange", func() error {
			_, err := client.StateChange(ctx, &api.StateChangeEvent{Event: api.Event_RUN_POD_SANDBOX, Pod: pod})
			return err
		}},
		{"Shutdown", func() error {
			_, err := client.Shutdown(ctx, &api.Empty{})
			return err
		}},
	}
	vectors := []vector{}
	for _, each := range calls {
		err := each.call()
		if (err != nil) != (each.name == "RunPodSandbox") {
			log.Fatalf("%s: %v", each.name, err)
		}
		request, response := ofRuntime.take(), ofPlugin.take()
		if each.name == "RegisterPlugin" {
			request, response = response, request
		}
		vectors = append(vectors, vector{each.name, request, response})
	}
	encoder := json.NewEncoder(os.Stdout)
	encoder.SetIndent("", "  ")
	if err := encoder.Encode(vectors); err != nil {
		log.Fatal(err)
	}
}
