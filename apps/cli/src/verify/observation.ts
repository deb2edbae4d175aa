// SPDX-License-Identifier: Apache-2.0
/**
 * ProbeSpec and Observation are what `switchyard verify` gives to the program in its pods, and what that program prints, one
 * JSON line each. The program runs in a pod without any capability: it reads files and uses UDP and TCP sockets.
 */

/** What the program of one pod has to do. */
export interface ProbeSpec {
  /** Identity of the run. Packets of other runs are ignored. */
  readonly run: string;
  /** Name of the pod. */
  readonly pod: string;
  /** "namespace/name" of the pod's network, which its beacons carry. */
  readonly network: string;
  /** Name of the network's interface in the pod. */
  readonly interface: string;
  /** First of three ports: UDP echo, UDP beacons, TCP throughput. */
  readonly port: number;
  /** The pods to send to. */
  readonly targets: readonly ProbeTarget[];
  /** Time after which the program ends, whatever happens. */
  readonly deadlineSeconds: number;
  /**
   * Time for which a program that sends listens to beacons after its packets, before it says that it is done. 0 for a program that
   * only answers, until its pod is deleted or its time is over.
   */
  readonly listenSeconds: number;
  /** Duration of the TCP stream to each target; 0 for none. */
  readonly throughputSeconds: number;
}

export interface ProbeTarget {
  readonly pod: string;
  /** Address of its interface. */
  readonly address: string;
}

/** What the program prints. */
export type Observation = InterfaceObservation | HeardObservation | TargetObservation | { readonly kind: "done" };

/** The network's interface and the devices of the pod, as the program finds them when it starts. */
export interface InterfaceObservation {
  readonly kind: "interface";
  /** Names of all network interfaces of the pod. */
  readonly names: readonly string[];
  /** Absent if the pod has no such interface. */
  readonly found?: FoundInterface;
  /** Names of the files in /dev/vfio, without "vfio". */
  readonly vfioGroups: readonly string[];
  /** RDMA devices that the pod sees. */
  readonly rdmaDevices: readonly string[];
  /** Whether the pod has a file /dev/infiniband/uverbs*. */
  readonly hasUverbs: boolean;
  /** Mode of the node's RDMA subsystem; absent if ib_core is not loaded. */
  readonly rdmaMode?: "shared" | "exclusive";
}

export interface FoundInterface {
  readonly mac: string;
  readonly mtu: number;
  /** Whether the interface is set up (IFF_UP). */
  readonly isUp: boolean;
  readonly hasCarrier: boolean;
  /** With prefix length: "192.168.77.2/24". Link-local addresses are left out. */
  readonly addresses: readonly string[];
}

/** The pod received a beacon of another pod, for the first time. */
export interface HeardObservation {
  readonly kind: "heard";
  readonly pod: string;
  /** "namespace/name" of the other pod's network. */
  readonly network: string;
}

/** What happened with the packets to one target. */
export interface TargetObservation {
  readonly kind: "target";
  readonly pod: string;
  /** Interface of the most specific route of the main table; absent if there is none. */
  readonly routeInterface?: string;
  /** The IPv4 neighbour entry of the target on the network's interface after the packets; absent if there is none. */
  readonly neighbour?: { readonly mac: string; readonly isComplete: boolean };
  readonly small: EchoResult;
  /** Packets of the size of the interface's MTU, which may not be fragmented. */
  readonly full: EchoResult;
  /** Absent if it was not requested, or failed; `throughputError` says why. */
  readonly throughputMbps?: number;
  readonly throughputError?: string;
}

/** The result of UDP packets that the target sends back. */
export interface EchoResult {
  /** Size of the IP packets in bytes. */
  readonly bytes: number;
  readonly sent: number;
  readonly received: number;
  /** Packets that were cut into fragments on the way there or back, as the counters of the pod say. */
  readonly fragmented: number;
  /** The answer of the kernel to a packet that could not be sent: "EMSGSIZE", "ENETUNREACH". */
  readonly error?: string;
}
