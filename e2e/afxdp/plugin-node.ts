// SPDX-License-Identifier: Apache-2.0
/**
 * createPluginNode makes a node for a test: a network namespace in which the device plugin runs, with two pairs of veth, the stock
 * CNI plugin host-device, and namespaces for pods. The kernel, the device plugin and host-device are real. veth is on no bus: a
 * directory of PCI devices stands in for sysfs, so that host-device finds v0 by an address.
 */
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdir, mkdtemp, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { goPrograms } from "@switchyard/go-programs";
import { createNetworkNamespace, type NetworkNamespace } from "@switchyard/netlink/testing";
import { findWorkspaceRoot, type ProgramEnd, runProgram } from "@switchyard/testing";

/** The PCI address under which host-device finds v0. */
export const pciAddress = "0000:86:00.0";

export interface PluginNode extends AsyncDisposable {
  readonly host: NetworkNamespace;
  /** Asks the process of the device plugin, as plugin-process.ts says. */
  ask(request: unknown): Promise<unknown>;
  /** Calls host-device as Multus does, for the interface net1 of the pod. */
  cni(command: "ADD" | "DEL" | "CHECK", pod: NetworkNamespace, conf: object): Promise<ProgramEnd>;
  /** Starts a program in the namespaces of the node. */
  start(file: string, args: readonly string[]): ChildProcess;
  /** Sends packets to v0 until the signal aborts. */
  sendPackets(signal: AbortSignal): void;
}

const links = `for n in 0 1; do ip link add v$n type veth peer name p$n; ip link set p$n up; done
ip address add 192.0.2.1/24 dev p0; ip neigh replace 192.0.2.77 lladdr 02:00:00:00:00:77 dev p0
mount -t bpf bpf /mnt`;

/** `kubeletDirectory` is that of a real kubelet. Without it, the plugin has a fake one. */
export async function createPluginNode({ kubeletDirectory }: { kubeletDirectory?: string } = {}): Promise<PluginNode> {
  await using stack = new AsyncDisposableStack();
  const directory = await mkdtemp(join(tmpdir(), "switchyard-afxdp-"));
  stack.defer(() => rm(directory, { recursive: true, force: true }));
  const hostDevice = join(await goPrograms("cni-plugins"), "host-device");
  const host = stack.use(await createNetworkNamespace());
  await host.run("sh", "-ec", links);
  const devices = join(directory, "devices");
  await mkdir(join(devices, pciAddress, "net", "v0"), { recursive: true });
  await mkdir(join(directory, "drivers", "e1000"), { recursive: true });
  await symlink(join(directory, "drivers", "e1000"), join(devices, pciAddress, "driver"));
  await host.run("mount", "--bind", devices, "/sys/bus/pci/devices");

  const main = join(findWorkspaceRoot(), "apps/afxdp-device-plugin/src/testing/plugin-process.ts");
  const [pid = ""] = /\d+/.exec(host.path) ?? [];
  const inHost = ["--target", pid, "--net", "--mount"];
  const ofKubelet = kubeletDirectory === undefined ? [] : [kubeletDirectory];
  const plugin = spawn("nsenter", [...inHost, process.execPath, main, directory, "/mnt", ...ofKubelet], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  const ended = once(plugin, "exit");
  stack.defer(async () => {
    plugin.stdin.end();
    await ended;
  });
  const answers = createInterface({ input: plugin.stdout })[Symbol.asyncIterator]();
  const owned = stack.move();
  return {
    host,
    async ask(request) {
      plugin.stdin.write(`${JSON.stringify(request)}\n`);
      const { value } = (await answers.next()) as { readonly value?: string };
      if (value === undefined) throw new Error("the device plugin ended");
      return JSON.parse(value) as unknown;
    },
    cni(command, pod, conf) {
      const variables = { CNI_COMMAND: command, CNI_NETNS: pod.path, CNI_IFNAME: "net1", CNI_CONTAINERID: "container" };
      const env = ["env", "CNI_PATH=/nowhere", ...Object.entries(variables).map(([name, value]) => `${name}=${value}`)];
      const network = { cniVersion: "1.0.0", name: "fast", type: "host-device", ...conf };
      return runProgram("nsenter", [...inHost, ...env, hostDevice], { input: JSON.stringify(network) });
    },
    start: (file, args) => spawn("nsenter", [...inHost, file, ...args], { stdio: ["ignore", "ignore", "pipe"] }),
    sendPackets(signal) {
      const send = "while sleep 0.1; do echo hello >/dev/udp/192.0.2.77/9; done";
      spawn("nsenter", [...inHost, "bash", "-c", send], { signal, stdio: "ignore" }).on("error", () => undefined);
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}
