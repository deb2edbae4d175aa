// SPDX-License-Identifier: Apache-2.0
/**
 * startTestpmd starts DPDK's testpmd as the container of a pod. It runs in the pod's network namespace, with its host
 * name and mounts, as user 1500, with only the capabilities that it is given, which its file has too. It reports the
 * number of packets each second.
 * Usage: `await using testpmd = startTestpmd(container); await testpmd.received();`
 */
import { spawn } from "node:child_process";
import { once } from "node:events";

/** The container. */
export interface TestpmdContainer {
  /** Paths of the mount namespace of the node and of the network namespace of the pod. */
  readonly namespaces: { readonly mount: string; readonly net: string };
  /** The tree of debianDpdk. */
  readonly tree: string;
  readonly podName: string;
  /** What the device plugin told the kubelet. */
  readonly mounts: readonly { readonly containerPath: string; readonly hostPath: string }[];
  /** Arguments of the AF_XDP driver: "iface=net1,use_cni=1". */
  readonly driver: string;
  readonly capabilities: readonly string[];
}

export interface Testpmd extends AsyncDisposable {
  /** Resolves when testpmd has reported packets. Rejects with its output if it ends before. */
  received(): Promise<void>;
  /** Resolves with the output when testpmd has ended. */
  readonly ended: Promise<string>;
}

/** Matches the output of testpmd when it has received packets. */
const receivedPackets = /RX-packets: [1-9]/;

/** Returns the command line of the container, for the shell of any machine. */
export function testpmdCommand(container: TestpmdContainer): readonly [string, ...string[]] {
  const { namespaces, tree, podName, mounts, driver, capabilities } = container;
  // Kubernetes adds capabilities to the bounding set only. A user other than root gets those of the program's file.
  const bounding = ["-all", ...capabilities.map((name) => `+${name}`)].join(",");
  const ofFile = capabilities.map((name) => `cap_${name}`).join(",");
  const user = ["--reuid=1500", "--regid=1500", "--clear-groups", "--inh-caps=-all", `--bounding-set=${bounding}`];
  const eal = ["--no-pci", "--no-huge", "--no-shconf", "--no-telemetry", `--vdev=net_af_xdp0,${driver}`];
  const reports = ["--auto-start", "--stats-period=1", "--nb-cores=1"];
  const memory = ["--no-mlockall", "--total-num-mbufs=8192"];
  const enter = ["setpriv", ...user, "/tmp/testpmd", ...eal, "--", "--forward-mode=rxonly", ...reports, ...memory];
  // The mount namespace is private, so that all mounts go with the last process in it.
  const prepare = [
    `set -e; hostname "$1"; mount -t tmpfs tmpfs ${tree}/tmp; chmod 1777 ${tree}/tmp; cp ${tree}/usr/bin/dpdk-testpmd ${tree}/tmp/testpmd`,
    ofFile === "" ? "" : `chroot ${tree} setcap ${ofFile}=ep /tmp/testpmd`,
    `mount -t proc proc ${tree}/proc; mount -t sysfs sysfs ${tree}/sys; shift`,
    `while [ "$1" != -- ]; do if [ -d "$1" ]; then mkdir -p "${tree}$2"; else mkdir -p "${tree}\${2%/*}"; touch "${tree}$2"; fi`,
    `mount --bind "$1" "${tree}$2"; shift 2; done; shift; exec chroot ${tree} "$@"`,
  ].join("\n");
  const paths = mounts.flatMap(({ hostPath, containerPath }) => [hostPath, containerPath]);
  const enterNode = [
    "nsenter",
    `--mount=${namespaces.mount}`,
    `--net=${namespaces.net}`,
    "unshare",
    "--mount",
    "--uts",
  ];
  const environment = ["-i", "PATH=/usr/sbin:/usr/bin:/sbin:/bin", "XDG_RUNTIME_DIR=/tmp"];
  return ["env", ...environment, ...enterNode, "sh", "-c", prepare, "sh", podName, ...paths, "--", ...enter];
}

export function startTestpmd(container: TestpmdContainer): Testpmd {
  const [file, ...args] = testpmdCommand(container);
  const child = spawn(file, args, { stdio: ["pipe", "pipe", "pipe"] });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8").on("data", (text: string) => {
      output += text;
    });
  }
  const closed = once(child, "close");
  const ended = closed.then(() => output);
  return {
    ended,
    async received() {
      while (!receivedPackets.test(output)) {
        const isOver = await Promise.race([ended.then(() => true), once(child.stdout, "data").then(() => false)]);
        if (isOver) throw new Error(`testpmd ended: ${output}`);
      }
    },
    async [Symbol.asyncDispose]() {
      child.kill("SIGKILL");
      await closed;
    },
  };
}
