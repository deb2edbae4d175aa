// SPDX-License-Identifier: Apache-2.0
/**
 * Tests that eve-bridge and Go's net/rpc/jsonrpc understand each other: a Go server decodes the requests of eve-bridge
 * and answers them.
 */
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "@jest/globals";
import { disposeOf } from "../src/dispose-of.ts";
import { startBackground, type Background } from "./background.ts";
import { describeInLab } from "./lab-support.ts";
import { createNodeLab, type Json, type NodeLab } from "./node-lab.ts";
import { chmodSync, rmSync, writeFileSync } from "node:fs";

const limitMs = 120_000;
const conf = { cniVersion: "1.0.0", name: "ni", type: "eve-bridge" };

/** A lease with every field that a result can have. */
const lease = {
  cniVersion: "1.0.0",
  ips: [{ address: "10.11.12.2/32", gateway: "10.11.12.1" }, { address: "2001:db8::7/64" }],
  routes: [
    { dst: "0.0.0.0/0", gw: "10.11.12.1" },
    { dst: "2001:db8:1::/48", gw: "2001:db8::1" },
    { dst: "10.1.0.0/9" },
  ],
  dns: { nameservers: ["10.11.12.1"], domain: "a.example", search: ["b.example"], options: ["ndots:1"] },
};

describeInLab("the wire to zedrouter", () => {
  let lab: NodeLab;
  let goServer: Background;

  beforeAll(async () => {
    lab = await createNodeLab();
    goServer = await startBackground(join(lab.tools, "judge"), [lab.settings.rpcSocket], { until: "listening" });
    rmSync(join(lab.bin, "dhcp"));
    const script = `[ "$CNI_COMMAND" != ADD ] || echo '${JSON.stringify(lease)}'`;
    writeFileSync(join(lab.bin, "dhcp"), `#!/bin/sh\n${script}\n`);
    chmodSync(join(lab.bin, "dhcp"), 0o755);
  }, limitMs);
  afterAll(async () => {
    await disposeOf(goServer, lab);
  });

  /** Number of lines of the Go server that were already returned. */
  let seen = 1;
  function decodedRequests(): Json[] {
    const lines = goServer.printed().trim().split("\n");
    const fresh = lines.slice(seen).map((line) => JSON.parse(line) as Json);
    seen = lines.length;
    return fresh;
  }

  it(
    "sends exactly the bytes that Go's client would send, in all four methods",
    async () => {
      const pod = await lab.createPod("native-1-abcde", "02:16:3e:5e:6c:01");
      const args = pod.args.replace("K8S_POD_NAMESPACE=eve-kube-app;", "");
      const call = (command: string, more: Json = {}) => lab.call(command, { ...pod, args }, { ...conf, ...more });
      const { status, json: prevResult } = await call("ADD");
      expect(status).toBe(0);
      await call("CHECK", { prevResult });
      expect((await call("DEL")).status).toBe(0);

      const common = { Pod: { Name: "native-1-abcde", NetNsPath: pod.netns } };
      const own = { Name: "net1", NetNsPath: pod.netns };
      // The Go server also prints bytes as base64.
      const withMac = { ...own, MAC: "AhY+XmwB" };
      expect(decodedRequests().map(({ method, args: said, same }) => ({ method, args: said, same }))).toEqual([
        { method: "ConnectPodAtL2", same: true, args: { ...common, PodInterface: withMac } },
        {
          method: "ConnectPodAtL3",
          same: true,
          args: {
            ...common,
            PodInterface: withMac,
            IPs: [
              { Address: { IP: "10.11.12.2", Mask: "/////w==" }, Gateway: "10.11.12.1" },
              { Address: { IP: "2001:db8::7", Mask: "//////////8AAAAAAAAAAA==" }, Gateway: "" },
            ],
            Routes: [
              { Dst: { IP: "0.0.0.0", Mask: "AAAAAA==" }, GW: "10.11.12.1" },
              { Dst: { IP: "2001:db8:1::", Mask: "////////AAAAAAAAAAAAAA==" }, GW: "2001:db8::1" },
              { Dst: { IP: "10.1.0.0", Mask: "/4AAAA==" }, GW: "" },
            ],
            DNS: { Nameservers: ["10.11.12.1"], Domain: "a.example", Search: ["b.example"], Options: ["ndots:1"] },
          },
        },
        { method: "CheckPodConnection", same: true, args: { ...common, PodInterface: { ...own, MAC: null } } },
        { method: "DisconnectPod", same: true, args: { ...common, PodInterface: { ...own, MAC: null } } },
      ]);
    },
    limitMs,
  );

  it(
    "sends the namespace and the network instance if zedrouter supports them",
    async () => {
      const pod = await lab.createPod("virt-launcher-app-1-abcde");
      const own = { ...conf, networkInstance: "6ba7b810-9dad-11d1-80b4-00c04fd430c8" };
      expect((await lab.call("ADD", pod, own)).status).toBe(0);
      expect((await lab.call("DEL", pod, own)).status).toBe(0);
      expect(decodedRequests()).toMatchObject([
        { same: true, args: { Pod: { Namespace: "eve-kube-app" }, NetworkInstance: own.networkInstance } },
        { same: true, args: { Pod: { Namespace: "eve-kube-app" }, NetworkInstance: own.networkInstance } },
      ]);
    },
    limitMs,
  );

  it(
    "decodes Go's answers: interfaces without MAC, answers without DHCP, and error texts",
    async () => {
      const pod = await lab.createPod("nodhcp-1-abcde", "02:16:3e:5e:6c:01");
      expect((await lab.call("ADD", pod, conf)).json).toEqual({
        cniVersion: "1.0.0",
        interfaces: [
          { name: "bn1", mac: "02:16:3e:00:00:01" },
          { name: "nbu1x1" },
          { name: "net1", mac: "02:16:3e:5e:6c:01", sandbox: pod.netns },
        ],
        dns: {},
      });
      const refused = await lab.createPod("refused-1-abcde");
      expect((await lab.call("ADD", refused, conf)).json).toEqual({
        cniVersion: "1.0.0",
        code: 100,
        msg: "RPC RPCServer.ConnectPodAtL2 failed: failed to find app network status for pod refused-1-abcde",
      });
      expect(decodedRequests().map(({ method }) => method)).toEqual([
        "ConnectPodAtL2",
        "ConnectPodAtL2",
        "DisconnectPod",
      ]);
    },
    limitMs,
  );
});
