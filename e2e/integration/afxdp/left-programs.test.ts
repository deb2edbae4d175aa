// SPDX-License-Identifier: Apache-2.0
/**
 * `config-daemon cleanup` on the kernel of this machine, in a network namespace where afxdp-device-plugin has left XDP programs, and the
 * plugins of upstream may have. gRPC and its sockets are real; the kubelet is a fake that speaks the real protocols.
 */
import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { recordUpstreamDevices } from "@switchyard/host/upstream-plugin";
import { startFakeKubelet, type FakeKubelet } from "@switchyard/kubelet/testing";
import {
  attachXdp,
  createXskMap,
  getLink,
  loadRedirectProgram,
  NetlinkSocket,
  pinXskMap,
  protocols,
} from "@switchyard/netlink";
import {
  createNetworkNamespace,
  loadForeignXdpProgram,
  missingForNamespaces,
  openXdpSocket,
  type NetworkNamespace,
} from "@switchyard/netlink/testing";
import { findWorkspaceRoot } from "@switchyard/testing";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const main = join(findWorkspaceRoot(), "apps/config-daemon/src/main.ts");
const record = "/var/lib/switchyard/afxdp-device-plugin.json";
const maps = "sys/fs/bpf/switchyard/afxdp";
const limitMs = 120_000;

(missingForNamespaces() === undefined ? describe : describe.skip)("config-daemon cleanup", () => {
  let namespace: NetworkNamespace;
  let links: NetlinkSocket;
  let kubelet: FakeKubelet;
  let host = "";

  beforeAll(async () => {
    host = mkdtempSync(join(tmpdir(), "switchyard-host-"));
    for (const directory of ["sys", "proc", "etc", "run", "var/lib/switchyard"])
      mkdirSync(join(host, directory), { recursive: true });
    namespace = await createNetworkNamespace();
    await namespace.run("mount", "-t", "sysfs", "sysfs", `${host}/sys`);
    await namespace.run("mount", "-t", "bpf", "bpf", `${host}/sys/fs/bpf`);
    await namespace.run("mount", "--bind", "/proc", `${host}/proc`);
    kubelet = await startFakeKubelet(join(host, "var/lib/kubelet"));
    links = new NetlinkSocket({ protocol: protocols.route, netns: namespace.path });
    for (const name of ["v0", "v1", "v2"]) await namespace.run("ip", "link", "add", name, "type", "veth");
    for (const name of ["v0", "v1"]) await leaveProgram(name);
    using foreign = loadForeignXdpProgram("foreign");
    await attachXdp(links, "v2", { program: foreign, mode: "native" });
    writeFileSync(join(host, record), "{}");
  });
  afterAll(async () => {
    await links[Symbol.asyncDispose]();
    await kubelet[Symbol.asyncDispose]();
    await namespace[Symbol.asyncDispose]();
    rmSync(host, { recursive: true });
  });

  /** Does what the plugin does for a pod. */
  async function leaveProgram(name: string): Promise<void> {
    using map = createXskMap({ queues: 1 });
    const directory = `${namespace.root}${host}/${maps}/${name}`;
    mkdirSync(directory, { recursive: true });
    pinXskMap(map, `${directory}/xsks_map`);
    using program = loadRedirectProgram(map);
    await attachXdp(links, name, { program, mode: "native" });
  }

  /** Returns the exit code and the lines of the command. */
  async function cleanup(...args: readonly string[]): Promise<readonly string[]> {
    const command = `"$0" "$@" 2>&1; echo "exit code $?"`;
    const program = [process.execPath, main, "cleanup", "--host-root", host, ...args];
    return (await namespace.run("sh", "-c", command, ...program)).trim().split("\n");
  }

  /** Names of the programs on the three interfaces, and the devices with a map. */
  async function left(): Promise<readonly string[]> {
    const shown = JSON.parse(await namespace.run("ip", "-json", "-details", "link")) as {
      readonly ifname: string;
      readonly xdp?: { readonly prog: { readonly name: string } };
    }[];
    const programs = shown.flatMap(({ ifname, xdp }) => (xdp === undefined ? [] : [`${ifname} ${xdp.prog.name}`]));
    const pinned = (await namespace.run("sh", "-c", `ls ${host}/${maps} 2>&-`)).split("\n").filter(Boolean);
    return [...programs.sort(), ...pinned];
  }

  const all = ["v0 switchyard_xsk", "v1 switchyard_xsk", "v2 foreign", "v0", "v1"];

  it(
    "detaches no XDP program if the kubelet does not answer, and says why",
    async () => {
      const dryRun = ["v0", "v1"].map((name) => `would detach the XDP program from ${name} and remove its map`);
      expect(await cleanup("--dry-run")).toEqual([...dryRun, `would remove ${record}`, "exit code 0"]);
      kubelet.pods = undefined;
      expect(await cleanup()).toEqual([
        "XDP programs of Switchyard stay on v0, v1: the kubelet does not say which devices pods have: 14 UNAVAILABLE: starting",
        ...[`remove ${record}`, "exit code 1"],
      ]);
      expect(await left()).toEqual(all);
    },
    limitMs,
  );

  it(
    "detaches it from a device that no pod has, and nothing of others",
    async () => {
      const devices = [{ resourceName: "afxdp/intel", ids: ["v0"] }];
      kubelet.pods = [{ name: "app", namespace: "default", containers: [{ name: "app", devices }] }];
      const detached = (name: string) => `detach the XDP program from ${name} and remove its map`;
      expect(await cleanup()).toEqual([
        detached("v1"),
        ...["the XDP program of Switchyard stays on v0: in use by a pod", "exit code 1"],
      ]);
      expect(await left()).toEqual(["v0 switchyard_xsk", "v2 foreign", "v0"]);
      kubelet.pods = [];
      expect(await cleanup()).toEqual([detached("v0"), "exit code 0"]);
      expect(await left()).toEqual(["v2 foreign"]);
      expect(await cleanup("--dry-run")).toEqual(["nothing to do", "exit code 0"]);
      expect(existsSync(join(host, record))).toBe(false);
    },
    limitMs,
  );

  it(
    "leaves a program of a device that the plugins of upstream had if an AF_XDP socket uses it, or the kernel does not know that",
    async () => {
      await namespace.run("sh", "-c", "ip link add v3 type veth && ip link set v3 up");
      using program = loadForeignXdpProgram("xsk_def_prog");
      await attachXdp(links, "v3", { program, mode: "native" });
      const bootId = readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim();
      await recordUpstreamDevices(host, [{ device: "v3", name: "v3", poolName: "fast" }], bootId);
      const { index } = await getLink(links, "v3");
      using _socket = openXdpSocket({ ifindex: index, queue: 0, netns: namespace.path });
      const [why, ...rest] = await cleanup();
      expect(why).toMatch(
        /^XDP program xsk_def_prog stays on v3: (AF_XDP sockets of the host use the interface \(1\)|the kernel does not say)/,
      );
      expect(rest).toEqual(["exit code 1"]);
      expect(await left()).toEqual(["v2 foreign", "v3 xsk_def_prog"]);
    },
    limitMs,
  );
});
