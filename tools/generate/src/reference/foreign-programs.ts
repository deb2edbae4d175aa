// SPDX-License-Identifier: Apache-2.0
/**
 * What the programs of other projects accept in the versions that the chart names. A test compares it with what is rendered, so a
 * new version of an image needs a new row.
 */
import type { images } from "../chart/images.ts";

/** A program in an image of another project. */
export interface ForeignProgram {
  /** Key of the image in the chart's value `images`. */
  readonly image: keyof typeof images;
  /** Tag of the default image: "v1.9.0". */
  readonly version: string;
  /** First word of the command that is rendered; "" if it is the image's entry point. */
  readonly program: string;
  /** Names of the flags that the program accepts, without dashes. */
  readonly flags: readonly string[];
  /** Paths that it serves for probes. */
  readonly probes: readonly string[];
  /** Files and directories in its container that it reads or writes and that must be mounted. */
  readonly mounts: readonly string[];
  /** What was run, or what was compared instead. */
  readonly checked: string;
  /** Day of the last time: "2026-11-28". */
  readonly date: string;
  /** Where the row is from. */
  readonly source: string;
}

const cniDirectory = "/host/opt/cni/bin";
const notServed = "Not available to the tests.";

export const foreignPrograms: readonly ForeignProgram[] = [
  {
    image: "sriovDevicePlugin",
    version: "v3.11.0",
    program: "/bin/sh",
    flags: ["config-file", "resource-prefix", "use-cdi", "v", "logtostderr"],
    probes: [],
    mounts: ["/etc/pcidp", "/var/lib/kubelet/device-plugins", "/var/lib/kubelet/plugins_registry"],
    checked:
      `${notServed} The program of 2022-11-27, from a Go module, runs with a real kubelet: \`npm run e2e -- vm/device-plugin\`, ` +
      "`npm run e2e -- cluster`.",
    date: "2026-11-28",
    source: "cmd/sriovdp/main.go; the flags of glog",
  },
  {
    image: "sriovCni",
    version: "v2.10.0",
    program: "",
    flags: ["cni-bin-dir", "sriov-bin-file", "no-sleep"],
    probes: [],
    mounts: [cniDirectory],
    checked: `${notServed} The plugin 2.1.0 from its Go module attaches VFs to pods: \`npm run e2e -- cluster\`.`,
    date: "2026-11-28",
    source: "images/entrypoint.sh since pull request 289",
  },
  {
    image: "ibSriovCni",
    version: "v1.3.0",
    program: "",
    flags: ["cni-bin-dir", "ib-sriov-cni-bin-file", "no-sleep"],
    probes: [],
    mounts: [cniDirectory],
    checked: `${notServed} Only its documentation and entry point were compared.`,
    date: "2026-11-28",
    source: "images/entrypoint.sh",
  },
  {
    image: "ovsCni",
    version: "v0.39.0",
    program: "cp",
    flags: ["f"],
    probes: [],
    mounts: [cniDirectory],
    checked:
      "This version, built from its Go module, attaches pods to Open vSwitch: `npm run e2e -- cluster/bridges`. " +
      "Its DaemonSet copies the same files.",
    date: "2026-11-28",
    source: "manifests/ovs-cni.yml.in, cmd/Dockerfile",
  },
  {
    image: "rdmaCni",
    version: "v1.5.0",
    program: "",
    flags: ["cni-bin-dir", "rdma-cni-bin-file", "no-sleep"],
    probes: [],
    mounts: [cniDirectory],
    checked:
      "This version, built from its Go module, runs in both RDMA modes: `npm run e2e -- vm/rdma-cni`. " +
      "It moves no software device, so that needs a card.",
    date: "2026-11-28",
    source: "images/entrypoint.sh, cmd/rdma/main.go",
  },
  {
    image: "acceleratedBridgeCni",
    version: "0.6.0",
    program: "cp",
    flags: ["f"],
    probes: [],
    mounts: [cniDirectory],
    checked:
      `${notServed} A program that does what it documents attaches pods: \`npm run e2e -- cluster/bridges\`. ` +
      "Its entry point never ends: `cp`.",
    date: "2026-11-28",
    source: "images/entrypoint.sh, its configuration reference, the tags of its release workflow",
  },
  {
    image: "resourcesInjector",
    version: "v1.9.0",
    program: "webhook",
    flags: [
      ...[
        "port",
        "bind-address",
        "tls-cert-file",
        "tls-private-key-file",
        "insecure",
        "client-ca",
        "health-check-port",
      ],
      ...["enable-http2", "tls-cipher-suites", "tls-min-version", "tls-curve-preferences", "logtostderr", "v"],
    ],
    probes: ["/healthz"],
    mounts: ["/etc/tls"],
    checked:
      "This version, built from its Go module, is called by a real API server: `npm test`; in a cluster with a kubelet: " +
      "`npm run e2e -- cluster`.",
    date: "2026-11-28",
    source: "cmd/webhook/main.go",
  },
  {
    image: "metricsExporter",
    version: "v1.1.0",
    program: "",
    flags: [
      ...["web.listen-address", "web.rate-limit", "web.rate-burst", "path.kubecgroup", "path.nodecpuinfo"],
      ...["path.cpucheckpoint", "path.kubeletsocket", "path.sysbuspci", "path.sysclassnet"],
      ...["collector.vfstatspriority", "collector.kubepodcpu", "collector.kubepoddevice"],
    ],
    probes: [],
    mounts: ["/host/kubelet.sock", "/host/cpu_manager_state", "/host/sys/bus/pci/devices", "/host/sys/class/net"],
    checked: `${notServed} Its flags and paths were compared. It serves only \`/metrics\`, so it has no probes.`,
    date: "2026-11-28",
    source: "cmd/sriov-network-metrics-exporter.go, collectors/*.go, README.md",
  },
  {
    image: "metricsExporterKubeRbacProxy",
    version: "v0.19.0",
    program: "",
    flags: [
      ...["insecure-listen-address", "secure-listen-address", "upstream", "upstream-force-h2c", "upstream-ca-file"],
      ...[
        "config-file",
        "allow-paths",
        "ignore-paths",
        "proxy-endpoints-port",
        "tls-cert-file",
        "tls-private-key-file",
      ],
      ...["tls-min-version", "tls-cipher-suites", "tls-reload-interval", "client-ca-file", "kubeconfig", "v"],
    ],
    probes: [],
    mounts: [],
    checked: "Its flags were compared with the sources of this version, which are in a Go module.",
    date: "2026-11-28",
    source: "cmd/kube-rbac-proxy/app/options/options.go",
  },
];
