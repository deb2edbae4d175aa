// SPDX-License-Identifier: Apache-2.0
/**
 * The DRA driver attaches a pod without Multus: the runtime side of NRI is that of containerd, and the CNI plugins are the stock bridge and
 * host-local, in network namespaces. The API server is played, and the VF is an address: bridge makes an interface of its own.
 */
import { afterEach, beforeEach, expect, it } from "@jest/globals";
import { draDriverName, parsePciAddress } from "@switchyard/api";
import { createClaimStatus, createPluginRunner, serveAttachments } from "@switchyard/dra-driver/attach";
import { createLinuxHostFiles } from "@switchyard/host";
import type { Transport, TransportRequest } from "@switchyard/kube";
import { deviceNameOf } from "@switchyard/render";
import { silentLogger } from "@switchyard/service/testing";
import { eventually } from "@switchyard/testing";
import { execFileSync } from "node:child_process";
import { chmod, mkdir, mkdtemp, readdir, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  buildNriPrograms,
  describeWithRuntime,
  startRealRuntime,
  type RealRuntime,
  type RuntimePod,
} from "./real-runtime.ts";

const nodeName = "worker-1";
const device = deviceNameOf("0000:3b:02.0");
const claim = {
  metadata: { namespace: "apps", name: "nic", uid: "11111111-2222-3333-4444-555555555555" },
  status: {
    allocation: {
      devices: {
        results: [{ driver: draDriverName, pool: nodeName, device, request: "nic" }],
        config: [
          {
            source: "FromClaim",
            opaque: {
              driver: draDriverName,
              parameters: {
                apiVersion: `${draDriverName}/v1alpha1`,
                kind: "VfConfig",
                netAttachDefName: "fast",
                ifName: "vf0",
              },
            },
          },
        ],
      },
    },
    reservedFor: [{ resource: "pods", name: "web-0", uid: "1b2c" }],
  },
};

describeWithRuntime("a pod with a claim", () => {
  let stack: AsyncDisposableStack;
  let directory: string;
  let runtime: RealRuntime;
  let pod: RuntimePod;
  let hostNamespace: string;
  /** Configuration of the NetworkAttachmentDefinition. */
  let config: object;
  /** What was written to the status of the claim. */
  let written: unknown[];
  let namespaces = 0;

  beforeEach(async () => {
    [stack, written] = [new AsyncDisposableStack(), []];
    directory = await mkdtemp(join(tmpdir(), "nri-attach-"));
    stack.defer(() => rm(directory, { recursive: true, force: true }));
    hostNamespace = addNamespace();
    const namespace = addNamespace();
    pod = {
      id: "0af1",
      name: "web-0",
      uid: "1b2c",
      namespace: "apps",
      networkNamespace: `/var/run/netns/${namespace}`,
    };
    await installPlugins();
    const ipam = { type: "host-local", subnet: "10.91.0.0/24", dataDir: join(directory, "leases") };
    config = { cniVersion: "1.0.0", name: "fast", plugins: [{ type: "bridge", bridge: "br0", ipam }] };
    runtime = stack.use(await startRealRuntime(join(directory, "nri.sock")));
  });

  afterEach(() => stack.disposeAsync());

  /** A namespace of this test, which is removed after it. */
  function addNamespace(): string {
    const name = `nri-${process.pid}-${namespaces++}`;
    execFileSync("ip", ["netns", "add", name]);
    stack.defer(() => {
      deleteNamespace(name);
    });
    return name;
  }

  function deleteNamespace(name: string): void {
    const names = execFileSync("ip", ["netns"], { encoding: "utf8" });
    if (new RegExp(String.raw`^${name}\b`, "m").test(names)) execFileSync("ip", ["netns", "delete", name]);
  }

  /** bridge works in the network of a namespace in place of that of the machine. */
  async function installPlugins(): Promise<void> {
    const programs = await buildNriPrograms();
    await mkdir(join(directory, "bin"));
    await symlink(join(programs, "host-local"), join(directory, "bin/host-local"));
    const words = `nsenter --net=/run/netns/${hostNamespace} ${join(programs, "bridge")}`;
    await writeFile(join(directory, "bin/bridge"), `#!/bin/sh\nexec ${words}\n`);
    await chmod(join(directory, "bin/bridge"), 0o755);
  }

  /** Starts a driver, and returns a function that ends it. */
  async function startDriver(): Promise<() => Promise<void>> {
    const stop = new AbortController();
    const { signal } = stop;
    const answer = ({ path, method, body }: TransportRequest): unknown => {
      if (method === "PATCH") return void written.push(body);
      if (path.endsWith("/namespaces/apps/resourceclaims/nic")) return claim;
      if (path.endsWith("/namespaces/apps/network-attachment-definitions/fast")) {
        return { spec: { config: JSON.stringify(config) } };
      }
      throw new Error(`unexpected ${method} ${path}`);
    };
    const transport = { request: (request: TransportRequest) => Promise.resolve(request).then(answer) } as Transport;
    const { readKind } = createLinuxHostFiles("/");
    const address = parsePciAddress("0000:3b:02.0");
    if (!address.ok) throw new Error("no address");
    const devices = [{ pciAddress: address.value, request: "nic", isAdmin: false }];
    const serving = serveAttachments({
      ...{ transport, nodeName, log: silentLogger, signal },
      files: { ...createLinuxHostFiles(directory), readKind },
      records: () => Promise.resolve([{ ...claim.metadata, devices }]),
      writeStatus: createClaimStatus({ transport, nodeName, now: () => new Date(0), log: silentLogger, signal }),
      connected: () => undefined,
      socketPath: join(directory, "nri.sock"),
      runPlugin: createPluginRunner({ hostRoot: "/", binDirectory: join(directory, "bin") }),
    });
    const end = async (): Promise<void> => {
      stop.abort();
      await serving;
    };
    stack.defer(end);
    expect(await runtime.synchronized()).toBe("");
    return end;
  }

  function interfaces(): readonly string[] {
    const name = pod.networkNamespace?.split("/").at(-1) ?? "";
    const links = JSON.parse(execFileSync("ip", ["-n", name, "-json", "address"], { encoding: "utf8" })) as {
      readonly ifname: string;
      readonly addr_info: readonly { readonly local: string; readonly family: string }[];
    }[];
    return links
      .filter(({ ifname }) => ifname !== "lo")
      .map(({ ifname, addr_info: all }) => `${ifname} ${all.find(({ family }) => family === "inet")?.local ?? ""}`);
  }

  async function leases(): Promise<readonly string[]> {
    return (await readdir(join(directory, "leases/fast"))).filter((name) => name.startsWith("10."));
  }

  const recordFiles = () => readdir(join(directory, "var/lib/cni/switchyard"));

  it("gets the interface that its network describes before its containers start, and loses it when it stops", async () => {
    await startDriver();
    expect(await runtime.send("RunPodSandbox", pod)).toBe("");
    expect(interfaces()).toEqual(["vf0 10.91.0.2"]);
    await eventually("the status is written", () => Promise.resolve(written.length === 1));
    expect(written[0]).toMatchObject({
      status: { devices: [{ device, networkData: { interfaceName: "vf0", ips: ["10.91.0.2/24"] } }] },
    });
    expect(await runtime.send("StopPodSandbox", pod)).toBe("");
    expect(interfaces()).toEqual([]);
    expect(await runtime.send("RemovePodSandbox", pod)).toBe("");
    expect([await leases(), await recordFiles()]).toEqual([[], []]);
  });

  it("does not start if a plugin fails, with its words, and has no address left", async () => {
    await startDriver();
    const [plugin] = (config as { readonly plugins: readonly object[] }).plugins;
    config = { ...config, plugins: [plugin, { type: "absent" }] };
    expect(await runtime.send("RunPodSandbox", pod)).toMatch(/CNI plugin absent: ADD vf0: there is no such program in/);
    expect([interfaces(), await leases()]).toEqual([[], []]);
  });

  it("stops although its network namespace is gone, and gives its address back", async () => {
    await startDriver();
    expect(await runtime.send("RunPodSandbox", pod)).toBe("");
    deleteNamespace(pod.networkNamespace?.split("/").at(-1) ?? "");
    expect(await runtime.send("StopPodSandbox", pod)).toBe("");
    expect([await leases(), await recordFiles()]).toEqual([[], []]);
  });

  it("gives its address back if it ended while the driver was away", async () => {
    const end = await startDriver();
    expect(await runtime.send("RunPodSandbox", pod)).toBe("");
    await end();
    deleteNamespace(pod.networkNamespace?.split("/").at(-1) ?? "");
    expect(await runtime.send("StopPodSandbox", pod)).toBe(""); // there is no plugin
    expect(await leases()).toHaveLength(1);
    await startDriver();
    await eventually("the address is free", async () => (await leases()).length === 0);
  });
});
