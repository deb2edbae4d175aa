// SPDX-License-Identifier: Apache-2.0
import { beforeEach, describe, expect, it } from "@jest/globals";
import { createFakeKernel, type FakeKernel } from "@switchyard/host/testing";
import type { PodSandbox } from "@switchyard/nri";
import type { AllocatedClaim } from "@switchyard/policy";
import { deviceNameOf } from "@switchyard/render";
import { silentLogger } from "@switchyard/service/testing";
import type { NetworkData } from "../claims/claim-status.ts";
import { createAttachments, type AttachmentsDeps } from "./attachments.ts";
import type { PluginRun } from "./run-chain.ts";

const pciAddress = "0000:3b:02.0";
const device = deviceNameOf(pciAddress) ?? "";
const records = "/var/lib/cni/switchyard";

let kernel: FakeKernel;
/** Interfaces that plugins have added, as "namespace interface plugin". */
let interfaces: Set<string>;
let runs: PluginRun[];
let claims: AllocatedClaim[];
let config: object;
/** Plugins that fail, as "COMMAND plugin". */
let failing: Set<string>;
let reported: ReadonlyMap<string, NetworkData>[];

beforeEach(() => {
  kernel = createFakeKernel({ nics: [] });
  [interfaces, runs, failing, reported] = [new Set(), [], new Set(), []];
  claims = [claimOf("nics", { netAttachDefName: "fast" })];
  config = { cniVersion: "1.0.0", name: "fast", plugins: [{ type: "sriov" }, { type: "tuning" }] };
});

function claimOf(name: string, configOfVf: AllocatedClaim["devices"][number]["config"], of = device): AllocatedClaim {
  const vf = { request: "nic", device: of, isAdmin: false, config: configOfVf };
  return { namespace: "apps", name, uid: `uid-${name}`, devices: [vf] };
}

/** Creates the network namespace of a pod, and returns its sandbox. */
function podOf(id: string, annotations: Readonly<Record<string, string>> = {}): PodSandbox {
  const path = `/run/netns/cni-${id}`;
  kernel.writeFile(path, "");
  const pod = { id, name: `pod-${id}`, uid: `uid-${id}`, namespace: "apps" };
  return { ...pod, annotations: new Map(Object.entries(annotations)), networkNamespace: `/var${path}` };
}

async function end({ id }: PodSandbox): Promise<void> {
  await kernel.host().files.remove(`/run/netns/cni-${id}`);
}

/** Stands for the CNI plugins. The kernel takes the interfaces of a namespace that is gone. */
function runPlugin(run: PluginRun): Promise<string> {
  runs.push(run);
  const { CNI_COMMAND: command = "", CNI_NETNS: namespace = "", CNI_IFNAME: name = "" } = run.env;
  const key = `${namespace} ${name} ${run.plugin}`;
  if (failing.has(`${command} ${run.plugin}`)) return Promise.reject(new Error(`CNI plugin ${run.plugin}: no`));
  if (command === "DEL") interfaces.delete(key);
  else interfaces.add(key);
  const ips = [{ address: "10.0.0.7/24" }];
  return Promise.resolve(JSON.stringify({ interfaces: [{ name, sandbox: namespace, mac: "02:00:00:00:00:01" }], ips }));
}

/** Returns a driver that has just started. */
function start(deps: Partial<AttachmentsDeps> = {}) {
  return createAttachments({
    files: kernel.host().files,
    runPlugin,
    claimsOf: () => Promise.resolve(claims),
    readNetwork: () => Promise.resolve(JSON.stringify(config)),
    attached: (_claim, networks) => reported.push(networks),
    log: silentLogger,
    signal: new AbortController().signal,
    pause: { firstMs: 1, longestMs: 2 },
    ...deps,
  });
}

const never = new AbortController().signal;
const recordFiles = () => kernel.listFiles().filter((path) => path.startsWith(records));

describe("a pod whose claim names a network", () => {
  it("gets the VF as an interface, which is reported, and loses it when it stops", async () => {
    const [attachments, pod] = [start(), podOf("a")];
    await attachments.runPodSandbox(pod, never);
    expect([...interfaces]).toEqual(["/run/netns/cni-a net1 sriov", "/run/netns/cni-a net1 tuning"]);
    expect(runs[0]?.env).toMatchObject({
      CNI_CONTAINERID: "a",
      CNI_ARGS:
        "IgnoreUnknown=1;K8S_POD_NAMESPACE=apps;K8S_POD_NAME=pod-a;K8S_POD_INFRA_CONTAINER_ID=a;K8S_POD_UID=uid-a",
    });
    expect(JSON.parse(runs[0]?.input ?? "")).toMatchObject({ type: "sriov", deviceID: pciAddress });
    const data = { interfaceName: "net1", ips: ["10.0.0.7/24"], hardwareAddress: "02:00:00:00:00:01" };
    expect(reported).toEqual([new Map([[device, data]])]);

    config = { type: "other" }; // what was added is deleted
    await attachments.stopPodSandbox(pod, never);
    await attachments.removePodSandbox(pod, never);
    expect([...interfaces]).toEqual([]);
    expect(runs.map(({ plugin, env }) => `${env["CNI_COMMAND"] ?? ""} ${plugin}`)).toEqual([
      ...["ADD sriov", "ADD tuning", "DEL tuning", "DEL sriov"],
    ]);
    expect(recordFiles()).toEqual([]);
  });

  it("gets the names that its claims ask for, and others that are free", async () => {
    const second = "0000:3b:02.1";
    claims = [
      claimOf("first", { netAttachDefName: "fast" }),
      claimOf("second", { netAttachDefName: "fast", ifName: "net2" }, deviceNameOf(second)),
      claimOf("third", { netAttachDefName: "fast" }, deviceNameOf("0000:3b:02.2")),
    ];
    await start().runPodSandbox(podOf("a", { "k8s.v1.cni.cncf.io/networks": "slow" }), never);
    expect(reported.map((networks) => [...networks.values()].map(({ interfaceName }) => interfaceName))).toEqual([
      ...[["net3"], ["net2"], ["net4"]],
    ]);
  });

  it("is left to Multus if its annotation names the network", async () => {
    await start().runPodSandbox(podOf("a", { "k8s.v1.cni.cncf.io/networks": "apps/fast@vf0" }), never);
    expect(runs).toEqual([]);
  });

  it("stays as it is in the network of the host, or if its claim only observes the VF", async () => {
    const { networkNamespace: _, ...onHost } = podOf("a");
    await start().runPodSandbox(onHost, never);
    const observed = claims.map((claim) => ({
      ...claim,
      devices: claim.devices.map((vf) => ({ ...vf, isAdmin: true })),
    }));
    await start({ claimsOf: () => Promise.resolve(observed) }).runPodSandbox(podOf("b"), never);
    expect(runs).toEqual([]);
  });

  it("does not start if a plugin fails, and keeps nothing", async () => {
    failing.add("ADD tuning");
    await expect(start().runPodSandbox(podOf("a"), never)).rejects.toThrow("CNI plugin tuning: no");
    expect([[...interfaces], recordFiles(), reported]).toEqual([[], [], []]);
  });

  it.each([
    {
      what: "a configuration that names a path",
      of: { type: "../sh" },
      error: /apps\/fast: spec.config has a plugin 0/,
    },
    { what: "no configuration", of: [], error: /spec.config is not a JSON object/ },
  ])("does not start with $what", async ({ of, error }) => {
    config = of;
    await expect(start().runPodSandbox(podOf("a"), never)).rejects.toThrow(error);
    expect([runs, recordFiles()]).toEqual([[], []]);
  });

  it("is the only one that can fail: others start, whatever the runtime says of them", async () => {
    const pod = { ...podOf("a", { "k8s.v1.cni.cncf.io/networks": "[{" }), id: "../a", networkNamespace: "/run/other" };
    await start({ claimsOf: () => Promise.resolve([]) }).runPodSandbox(pod, never);
    await expect(start().runPodSandbox(pod, never)).rejects.toThrow("neither a list of names nor JSON");
  });

  it("does not start if two interfaces had the same name, or its sandbox has no id", async () => {
    claims = ["0000:3b:02.0", "0000:3b:02.1"].map((address, nth) =>
      claimOf(`c${nth}`, { netAttachDefName: "fast", ifName: "vf0" }, deviceNameOf(address)),
    );
    await expect(start().runPodSandbox(podOf("a"), never)).rejects.toThrow('two interfaces "vf0"');
    claims.pop();
    await expect(start().runPodSandbox({ ...podOf("b"), id: "../b" }, never)).rejects.toThrow("whose id is not one");
  });

  it("does not get a VF that a running pod has, and gets one whose pod could not be undone", async () => {
    const [attachments, first, second] = [start(), podOf("a"), podOf("b")];
    await attachments.runPodSandbox(first, never);
    await expect(attachments.runPodSandbox(second, never)).rejects.toThrow(
      `VF ${pciAddress} is attached to pod apps/pod-a; one VF is for one pod`,
    );
    failing.add("DEL sriov");
    await expect(attachments.stopPodSandbox(first, never)).rejects.toThrow("CNI plugin sriov: no");
    failing.clear();
    await attachments.runPodSandbox(second, never);
    expect([...interfaces]).toEqual(["/run/netns/cni-b net1 sriov", "/run/netns/cni-b net1 tuning"]);
  });

  it("stops although plugins fail if its network namespace is gone", async () => {
    const [attachments, pod] = [start(), podOf("a")];
    await attachments.runPodSandbox(pod, never);
    await end(pod);
    failing.add("DEL sriov").add("DEL tuning");
    await attachments.stopPodSandbox(pod, never);
    expect(recordFiles()).toEqual([]);
    expect(runs.at(-1)?.env["CNI_NETNS"]).toBe("");
  });
});

describe("a driver that was killed", () => {
  /** Waits until no repair is left. */
  async function synchronize(pods: readonly PodSandbox[], until: () => boolean): Promise<void> {
    start().synchronize(pods, { name: "fake", version: "", nriVersion: "", requestTimeoutMs: 0 });
    while (!until()) await new Promise((resolve) => setTimeout(resolve, 1));
  }

  const added = ["/run/netns/cni-a net1 sriov", "/run/netns/cni-a net1 tuning"];

  it.each([1, 2, 3, 4])("at its write or run %d of an attachment completes it, and reports it", async (nth) => {
    const pod = podOf("a");
    let count = 0;
    const dead = new Promise<never>(() => undefined);
    const { files } = kernel.host();
    const mortal: Partial<AttachmentsDeps> = {
      files: { ...files, writeText: (...args) => (++count >= nth ? dead : files.writeText(...args)) },
      runPlugin: (run) => (++count >= nth ? dead : runPlugin(run)),
      readNetwork: () => Promise.resolve(JSON.stringify(config)),
    };
    void start(mortal).runPodSandbox(pod, never);
    while (count < nth) await new Promise((resolve) => setTimeout(resolve, 1));
    expect(interfaces.size).toBe(nth === 1 ? 0 : Math.min(nth - 2, 2));
    // Before the first write, only the kernel tells that the VF is not in the pod.
    if (nth === 1) kernel.writeFile(`/sys/bus/pci/devices/${pciAddress}/net/ens1f0v0/mtu`, "");
    await synchronize([pod], () => reported.length > 0);
    expect([...interfaces]).toEqual(added);
    expect(recordFiles()).toEqual([`${records}/a_net1.json`]);
  });

  it("undoes what pods have left whose network namespaces are gone, and keeps those that the runtime does not list", async () => {
    const [gone, running] = [podOf("a"), podOf("b")];
    await start().runPodSandbox(gone, never);
    claims = [claimOf("second", { netAttachDefName: "fast" }, deviceNameOf("0000:3b:02.1"))];
    await start().runPodSandbox(running, never);
    await end(gone);
    await synchronize([], () => recordFiles().length < 2);
    expect(recordFiles()).toEqual([`${records}/b_net1.json`]);
  });

  it("repeats a repair that fails", async () => {
    const pod = podOf("a");
    await start().runPodSandbox(pod, never);
    failing.add("DEL sriov");
    await expect(start().stopPodSandbox(pod, never)).rejects.toThrow();
    const before = runs.length;
    await synchronize([], () => {
      if (runs.length > before + 4) failing.clear();
      return recordFiles().length === 0;
    });
    expect(interfaces.size).toBe(0);
  });

  it("attaches nothing to a running pod of which it is not known that it lacks the VF", async () => {
    const pod = podOf("a");
    const asked = Promise.withResolvers<undefined>();
    start({
      claimsOf() {
        setTimeout(() => {
          asked.resolve(undefined);
        }, 20);
        return Promise.resolve(claims);
      },
    }).synchronize([pod], { name: "fake", version: "", nriVersion: "", requestTimeoutMs: 0 });
    await asked.promise;
    expect(runs).toEqual([]);
  });
});
