// SPDX-License-Identifier: Apache-2.0

// Command runtime is the NRI side of a container runtime, with the package that containerd has for it. It listens on the socket of the first
// argument, and relays the lines of its standard input to the plugin as events. For each line it prints one line with the answer.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"log"
	"os"
	"sync"

	"github.com/containerd/nri/pkg/adaptation"
)

// line is an event of a pod, or the list of the pods with which plugins are synchronized from then on.
type line struct {
	Event string `json:"event"`
	Pod   pod    `json:"pod"`
	Pods  []pod  `json:"pods"`
}

type pod struct {
	ID               string            `json:"id"`
	Name             string            `json:"name"`
	UID              string            `json:"uid"`
	Namespace        string            `json:"namespace"`
	Annotations      map[string]string `json:"annotations"`
	NetworkNamespace string            `json:"networkNamespace"`
}

func (p pod) sandbox() *adaptation.PodSandbox {
	linux := &adaptation.LinuxPodSandbox{}
	if p.NetworkNamespace != "" {
		linux.Namespaces = []*adaptation.LinuxNamespace{{Type: "network", Path: p.NetworkNamespace}}
	}
	return &adaptation.PodSandbox{
		Id: p.ID, Name: p.Name, Uid: p.UID, Namespace: p.Namespace, Annotations: p.Annotations, Linux: linux,
	}
}

func main() {
	var (
		lock      sync.Mutex
		known     []*adaptation.PodSandbox
		isStarted bool
		out       = json.NewEncoder(os.Stdout)
	)
	say := func(answer map[string]string) {
		lock.Lock()
		defer lock.Unlock()
		if err := out.Encode(answer); err != nil {
			log.Fatal(err)
		}
	}
	synchronize := func(ctx context.Context, callback adaptation.SyncCB) error {
		lock.Lock()
		pods, isOfPlugin := known, isStarted // the first call is for the plugins that the runtime starts, of which there are none
		lock.Unlock()
		_, err := callback(ctx, pods, nil)
		if !isOfPlugin {
			return err
		}
		say(map[string]string{"event": "Synchronize", "error": text(err)})
		return err
	}
	update := func(context.Context, []*adaptation.ContainerUpdate) ([]*adaptation.ContainerUpdate, error) {
		return nil, nil
	}
	directory, err := os.MkdirTemp("", "nri-")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(directory)
	runtime, err := adaptation.New("switchyard-test", "1.0.0", synchronize, update,
		adaptation.WithSocketPath(os.Args[1]), adaptation.WithPluginPath(directory), adaptation.WithPluginConfigPath(directory))
	if err != nil {
		log.Fatal(err)
	}
	if err := runtime.Start(); err != nil {
		log.Fatal(err)
	}
	lock.Lock()
	isStarted = true
	lock.Unlock()
	ctx := context.Background()
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 64<<20) // a list of pods is one line
	for lines.Scan() {
		var next line
		if err := json.Unmarshal(lines.Bytes(), &next); err != nil {
			log.Fatal(err)
		}
		var err error
		switch next.Event {
		case "Pods":
			lock.Lock()
			known = nil
			for _, each := range next.Pods {
				known = append(known, each.sandbox())
			}
			lock.Unlock()
		case "RunPodSandbox":
			err = runtime.RunPodSandbox(ctx, &adaptation.RunPodSandboxRequest{Pod: next.Pod.sandbox()})
		case "StopPodSandbox":
			err = runtime.StopPodSandbox(ctx, &adaptation.StopPodSandboxRequest{Pod: next.Pod.sandbox()})
		case "RemovePodSandbox":
			err = runtime.RemovePodSandbox(ctx, &adaptation.RemovePodSandboxRequest{Pod: next.Pod.sandbox()})
		default:
			log.Fatalf("unknown event %q", next.Event)
		}
		say(map[string]string{"event": next.Event, "error": text(err)})
	}
	runtime.Stop()
}

func text(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
