// SPDX-License-Identifier: Apache-2.0
/**
 * Tests eth0: eve-bridge calls the stock `bridge` and `host-local` plugins. The tests call eve-bridge with cnitool and
 * directly.
 */
import {
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { disposeOf } from "../src/dispose-of.ts";
import { describeInLab } from "./lab-support.ts";
import { createNodeLab, podLink, podRoutes, type Json, type NodeLab, type Pod } from "./node-lab.ts";
import { ip } from "./shell.ts";

const limitMs = 120_000;
const ifName = "eth0";

/** Returns flannel's configuration (eve-and-afxdp.md a1), with the directory of the addresses in the lab. */
function confOf(lab: NodeLab, change: Json = {}): Json {
  return {
    cniVersion: "0.3.1",
    name: "cbr0",
    type: "eve-bridge",
    nodeIP: "10.244.244.1/32",
    ipMasq: false,
    mtu: 1450,
    ipam: {
      type: "host-local",
      ranges: [[{ subnet: "10.42.0.0/24" }]],
      routes: [{ dst: "10.42.0.0/16" }],
      dataDir: lab.path("host-local"),
    },
    ...change,
  };
}

/** Replaces `bridge` by a script that records its stdin and calls the real plugin. */
function tapBridge(lab: NodeLab): AsyncDisposable & { conf(command: string): Json } {
  const plugin = join(lab.bin, "bridge");
  const real = readlinkSync(plugin);
  unlinkSync(plugin);
  writeFileSync(plugin, `#!/bin/sh\ntee ${lab.path("told")}-$CNI_COMMAND | ${real}\n`, { mode: 0o755 });
  return {
    conf: (command) => JSON.parse(readFileSync(lab.path(`told-${command}`), "utf8")) as Json,
    async [Symbol.asyncDispose]() {
      unlinkSync(plugin);
      symlinkSync(real, plugin);
      return Promise.resolve();
    },
  };
}

describeInLab("eth0", () => {
  let lab: NodeLab;
  beforeAll(async () => {
    lab = await createNodeLab();
    // As on every node, a system pod exists before the other pods. Without it, `bridge` v1.9.1 fails after the last
    // port was removed from its bridge ("could not set bridge's mac", Linux 6.18).
    const pod = await lab.createPod("coredns-0");
    const system = { ...pod, args: pod.args.replace("eve-kube-app", "kube-system") };
    expect(await lab.call("ADD", system, confOf(lab), { ifName })).toMatchObject({ status: 0 });
    [before, stateBefore] = [allAddresses(), lab.stateFiles()];
  }, limitMs);
  afterAll(async () => {
    await disposeOf(lab);
  });

  let before: string[] = [];
  let stateBefore: string[] = [];
  const allAddresses = () => readdirSync(lab.path("host-local", "cbr0")).filter((name) => /^\d/.test(name));
  /** Returns the addresses that host-local has assigned to the pods of the tests. */
  const givenAddresses = () => allAddresses().filter((address) => !before.includes(address));
  const stateFiles = () => lab.stateFiles().filter((file) => !stateBefore.includes(file));

  async function withPod(podName: string, act: (pod: Pod) => Promise<void>): Promise<void> {
    const pod = await lab.createPod(podName);
    await act(pod);
    expect(await lab.call("DEL", pod, confOf(lab), { ifName })).toMatchObject({ status: 0, stdout: "" });
    expect([await podLink(pod, ifName), givenAddresses(), stateFiles()]).toEqual([undefined, [], []]);
    expect((await lab.hostLinks()).filter((name) => name.startsWith("veth"))).toHaveLength(1);
  }

  /** Returns the routes of the pod without the name of the device. */
  const destinations = async (pod: Pod) => (await podRoutes(pod)).map((route) => route.replace(" dev eth0", "")).sort();

  it(
    "of an application reaches services and the node, and has no default route",
    () =>
      withPod("app-1-abcde", async (pod) => {
        const { status, json } = await lab.call("ADD", pod, confOf(lab), { ifName });
        expect(status).toBe(0);
        expect(json).toMatchObject({ cniVersion: "0.3.1", ips: [{ version: "4", gateway: "10.42.0.1" }] });
        const [address = ""] = (await podLink(pod, ifName))?.addresses ?? [];
        expect(json?.["ips"]).toMatchObject([{ address }]);
        expect(await destinations(pod)).toEqual([
          "10.244.244.1 via 10.42.0.1",
          "10.42.0.0/16 via 10.42.0.1",
          "10.42.0.0/24",
          "10.43.0.0/16 via 10.42.0.1",
        ]);
      }),
    limitMs,
  );

  it(
    "of any other pod has the default route",
    async () => {
      const pod = await lab.createPod();
      const args = pod.args.replace("eve-kube-app", "kube-system");
      const call = (command: string) => lab.call(command, { ...pod, args }, confOf(lab), { ifName });
      expect(await call("ADD")).toMatchObject({ status: 0 });
      expect(await destinations(pod)).toEqual(["10.42.0.0/16 via 10.42.0.1", "10.42.0.0/24", "default via 10.42.0.1"]);
      expect((await call("DEL")).status).toBe(0);
    },
    limitMs,
  );

  describe("if zedkube writes markers", () => {
    beforeAll(() => {
      mkdirSync(lab.settings.markerDir);
    });
    afterAll(() => {
      rmSync(lab.settings.markerDir, { recursive: true });
    });
    const mark = (podName: string, text: string) => {
      writeFileSync(join(lab.settings.markerDir, `eve-kube-app_${podName}`), text);
    };

    it(
      "follows the marker, and fails until it exists",
      () =>
        withPod("app-2-abcde", async (pod) => {
          const { status, json } = await lab.call("ADD", pod, confOf(lab), { ifName });
          expect([status, json?.["code"]]).toEqual([1, 11]);
          mark("app-2-abcde", "native\n");
          expect((await lab.call("ADD", pod, confOf(lab), { ifName })).status).toBe(0);
          expect(await destinations(pod)).toContain("default via 10.42.0.1");
          unlinkSync(join(lab.settings.markerDir, "eve-kube-app_app-2-abcde"));
        }),
      limitMs,
    );

    it.each(["controller", "native-ni-default"])(
      "has no default route for %s",
      (kind) =>
        withPod("app-3-abcde", async (pod) => {
          mark("app-3-abcde", kind);
          expect((await lab.call("ADD", pod, confOf(lab), { ifName })).status).toBe(0);
          expect(await destinations(pod)).not.toContain("default via 10.42.0.1");
        }),
      limitMs,
    );
  });

  it(
    "is added, checked and deleted by cnitool in every CNI version",
    async () => {
      for (const cniVersion of ["0.1.0", "0.2.0", "0.3.0", "0.3.1", "0.4.0", "1.0.0", "1.1.0"]) {
        const pod = await lab.createPod();
        const conf = confOf(lab, { cniVersion });
        const added = await lab.cnitool("add", pod, conf, ifName);
        expect({ cniVersion, ...added }).toMatchObject({ cniVersion, status: 0, stderr: "" });
        expect(JSON.parse(added.stdout)).toMatchObject({ cniVersion });
        if (cniVersion >= "0.4.0")
          expect(await lab.cnitool("check", pod, conf, ifName)).toMatchObject({ status: 0, stderr: "" });
        if (cniVersion === "1.1.0")
          expect(await lab.cnitool("status", pod, conf, ifName)).toMatchObject({ status: 0, stderr: "" });
        expect(await lab.cnitool("del", pod, conf, ifName)).toMatchObject({ status: 0, stderr: "" });
      }
      expect([givenAddresses(), stateFiles()]).toEqual([[], []]);
    },
    limitMs,
  );

  it(
    "fails CHECK if its address is missing",
    async () => {
      const pod = await lab.createPod();
      const conf = confOf(lab, { cniVersion: "1.0.0" });
      const { json: prevResult } = await lab.call("ADD", pod, conf, { ifName });
      expect((await lab.call("CHECK", pod, { ...conf, prevResult }, { ifName })).status).toBe(0);
      await ip(`-n ${pod.namespace} address flush dev eth0`);
      expect((await lab.call("CHECK", pod, { ...conf, prevResult }, { ifName })).status).toBe(1);
      expect((await lab.call("DEL", pod, conf, { ifName })).status).toBe(0);
    },
    limitMs,
  );

  it(
    "is checked and deleted with the configuration that `bridge` got for the ADD",
    async () => {
      const pod = await lab.createPod();
      const conf = confOf(lab, { cniVersion: "1.0.0" });
      await using told = tapBridge(lab);
      const { json: prevResult } = await lab.call("ADD", pod, conf, { ifName });
      expect((await lab.call("CHECK", pod, { ...conf, prevResult }, { ifName })).status).toBe(0);
      expect((await lab.call("DEL", pod, conf, { ifName })).status).toBe(0);
      const added = told.conf("ADD");
      expect(added["ipam"]).toMatchObject({
        routes: [{ dst: "10.42.0.0/16" }, { dst: "10.43.0.0/16" }, { dst: "10.244.244.1/32" }],
      });
      expect(told.conf("CHECK")).toEqual({ ...added, prevResult });
      expect(told.conf("DEL")).toEqual(added);
    },
    limitMs,
  );

  it(
    "is deleted if the call has no ipam, routes, nodeIP or namespace",
    async () => {
      const pod = await lab.createPod();
      expect((await lab.call("ADD", pod, confOf(lab), { ifName })).status).toBe(0);
      const bare = { cniVersion: "0.3.1", name: "cbr0", type: "eve-bridge" };
      expect((await lab.call("DEL", pod, bare, { ifName })).status).toBe(0);
      expect([await podLink(pod, ifName), givenAddresses(), stateFiles()]).toEqual([undefined, [], []]);
      expect((await lab.call("DEL", pod, bare, { ifName, env: { CNI_NETNS: "" } })).status).toBe(0);
      expect((await lab.call("DEL", pod, bare, { ifName, env: { CNI_NETNS: "/var/run/netns/gone" } })).status).toBe(0);
    },
    limitMs,
  );

  it(
    "is removed completely if the plugin fails half-way",
    async () => {
      // host-local has no second address and reports this after `bridge` has created the interface.
      const range = { subnet: "10.42.0.0/24", rangeStart: "10.42.0.77", rangeEnd: "10.42.0.77" };
      const conf = confOf(lab, { ipam: { ...(confOf(lab)["ipam"] as Json), ranges: [[range]] } });
      const [first, pod] = await lab.createPods(["app-1-abcde", "app-2-abcde"]);
      if (first === undefined || pod === undefined) throw new Error("no pods");
      expect((await lab.call("ADD", first, conf, { ifName })).status).toBe(0);
      const { status, json } = await lab.call("ADD", pod, conf, { ifName });
      expect([status, json?.["msg"]]).toEqual([1, expect.stringContaining("no IP addresses available")]);
      expect([await podLink(pod, ifName), givenAddresses()]).toEqual([undefined, ["10.42.0.77"]]);
      expect((await lab.call("DEL", first, conf, { ifName })).status).toBe(0);
      expect([await podLink(pod, ifName), givenAddresses(), stateFiles()]).toEqual([undefined, [], []]);
    },
    limitMs,
  );

  it(
    "fails before the call of `bridge` if nodeIP is missing",
    async () => {
      const pod = await lab.createPod();
      const { json } = await lab.call("ADD", pod, confOf(lab, { nodeIP: undefined }), { ifName });
      expect(json).toEqual({ cniVersion: "0.3.1", code: 7, msg: "nodeIP was not provided" });
      expect(await podLink(pod, ifName)).toBeUndefined();
    },
    limitMs,
  );

  it(
    "of a pod that the runtime no longer lists is deleted by GC",
    async () => {
      const pod = await lab.createPod();
      const conf = confOf(lab, { cniVersion: "1.1.0" });
      expect((await lab.call("ADD", pod, conf, { ifName })).status).toBe(0);
      const gc = { ...conf, "cni.dev/valid-attachments": [] };
      expect(await lab.call("GC", pod, gc, { env: { CNI_IFNAME: "" } })).toMatchObject({ status: 0, stdout: "" });
      expect([await podLink(pod, ifName), givenAddresses(), stateFiles()]).toEqual([undefined, [], []]);
    },
    limitMs,
  );
});
