// SPDX-License-Identifier: Apache-2.0
/**
 * Tests interfaces in network instances with a fake zedrouter that creates real veth pairs, and the real DHCP plugin,
 * daemon and server.
 */
import { afterAll, beforeAll, beforeEach, expect, it } from "@jest/globals";
import { disposeOf } from "../src/dispose-of.ts";
import { createNetworkLab, type Dhcp, type NetworkLab } from "./dhcp.ts";
import type { FakeZedrouter } from "./fake-zedrouter.ts";
import { describeInLab } from "./lab-support.ts";
import { logLines, podLink, podRoutes, type Json, type NodeLab } from "./node-lab.ts";
import { ip, output } from "./shell.ts";

const limitMs = 120_000;
const conf = { cniVersion: "0.3.1", name: "network-instance-attachment", type: "eve-bridge" };
const newest = { ...conf, cniVersion: "1.1.0" };

describeInLab("interfaces in network instances", () => {
  let networkLab: NetworkLab;
  let lab: NodeLab;
  let zedrouter: FakeZedrouter;
  let dhcp: Dhcp;

  beforeAll(async () => {
    networkLab = await createNetworkLab();
    ({ lab, zedrouter, dhcp } = networkLab);
  }, limitMs);
  afterAll(async () => {
    await disposeOf(networkLab);
  });
  beforeEach(() => {
    zedrouter.useDhcp = true;
  });

  /** Resolves when a DHCPRELEASE for the address was sent. */
  async function released(address: string): Promise<void> {
    const ciaddr = address.split("/")[0] ?? "";
    await dhcp.wire.line((line) => line.includes('"RELEASE"') && line.includes(`"ciaddr":"${ciaddr}"`));
  }

  it(
    "get an address, routes and a lease whose client id depends on the MAC",
    async () => {
      const pod = await lab.createPod("app-1-abcde", "02:16:3e:5e:6c:01");
      const { status, json, stderr } = await lab.call("ADD", pod, conf);
      expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
      const link = await podLink(pod, "net1");
      const [address = ""] = link?.addresses ?? [];
      expect(address).toMatch(/^10\.11\.\d+\.\d+\/16$/);
      expect(link).toMatchObject({
        mac: "02:16:3e:5e:6c:01",
        up: true,
        addresses: [address],
      });
      expect(await podRoutes(pod)).toEqual(
        expect.arrayContaining(["default via 10.11.12.1 dev net1", "10.99.0.0/16 via 10.11.12.1 dev net1"]),
      );
      expect(json).toEqual({
        cniVersion: "0.3.1",
        interfaces: [
          { name: "bn1", mac: "02:16:3e:00:00:01" },
          { name: "nbu1x1" },
          { name: "net1", mac: "02:16:3e:5e:6c:01", sandbox: pod.netns },
        ],
        ips: [{ version: "4", interface: 2, address, gateway: "10.11.12.1" }],
        routes: [
          { dst: "10.11.0.0/16" },
          { dst: "10.99.0.0/16", gw: "10.11.12.1" },
          { dst: "0.0.0.0/0", gw: "10.11.12.1" },
        ],
        dns: {},
      });
      const clientId = `00${Buffer.from("eve-mac-02163e5e6c01").toString("hex")}`;
      const request = dhcp.messages().findLast(({ type, mac }) => type === "REQUEST" && mac === "02:16:3e:5e:6c:01");
      expect(request?.clientId).toBe(clientId);
      await output("nsenter", [`--net=${pod.netns}`, "busybox", "ping", "-c", "1", "-W", "5", "10.11.12.1"]);

      // A recreated pod for the same adapter gets the same address.
      expect(await lab.call("DEL", pod, conf)).toMatchObject({ status: 0, stdout: "", stderr: "" });
      const again = await lab.createPod("app-1-abcde", "02:16:3e:5e:6c:01");
      expect((await lab.call("ADD", again, conf)).status).toBe(0);
      expect((await podLink(again, "net1"))?.addresses).toEqual([address]);
      expect((await lab.call("DEL", again, conf)).status).toBe(0);
      expect(dhcp.leases().filter((line) => line.includes("02:16:3e:5e:6c:01"))).toHaveLength(1);
    },
    limitMs,
  );

  it(
    "release the lease while they can still send, and are then removed completely",
    async () => {
      const pod = await lab.createPod("app-2-abcde", "02:16:3e:5e:6c:02");
      await lab.call("ADD", pod, conf);
      const [address = ""] = (await podLink(pod, "net1"))?.addresses ?? [];
      expect((await lab.call("DEL", pod, conf)).status).toBe(0);
      await released(address);
      expect(await podLink(pod, "net1")).toBeUndefined();
      expect(await lab.hostLinks()).toEqual(["bn1"]);
      expect(lab.stateFiles()).toEqual([]);
      for (let i = 0; i < 2; i++) expect(await lab.call("DEL", pod, conf)).toMatchObject({ status: 0, stdout: "" });
    },
    limitMs,
  );

  it(
    "of virtual machines are connected at L2 and get no address from eve-bridge",
    async () => {
      const pod = await lab.createPod("virt-launcher-app-3-027a9-abcde-fghij");
      const { status, json } = await lab.call("ADD", pod, conf);
      expect([status, json?.["ips"]]).toEqual([0, undefined]);
      expect(await podLink(pod, "net1")).toMatchObject({ up: true, addresses: [] });
      expect((await lab.call("DEL", pod, conf)).status).toBe(0);
      expect(await lab.hostLinks()).toEqual(["bn1"]);
    },
    limitMs,
  );

  it(
    "in an air-gapped network get no address",
    async () => {
      zedrouter.useDhcp = false;
      const pod = await lab.createPod();
      const before = dhcp.messages().length;
      expect((await lab.call("ADD", pod, conf)).status).toBe(0);
      expect((await lab.call("DEL", pod, conf)).status).toBe(0);
      expect(dhcp.messages().length).toBe(before);
    },
    limitMs,
  );

  it(
    "are added, checked and deleted by cnitool in every CNI version",
    async () => {
      for (const cniVersion of ["0.1.0", "0.2.0", "0.3.0", "0.3.1", "0.4.0", "1.0.0", "1.1.0"]) {
        const pod = await lab.createPod();
        const own = { ...conf, cniVersion };
        const added = await lab.cnitool("add", pod, own, "net1");
        expect({ cniVersion, ...added }).toMatchObject({ cniVersion, status: 0, stderr: "" });
        expect(JSON.parse(added.stdout)).toMatchObject({ cniVersion });
        if (cniVersion >= "0.4.0")
          expect(await lab.cnitool("check", pod, own, "net1")).toMatchObject({ status: 0, stderr: "" });
        expect(await lab.cnitool("del", pod, own, "net1")).toMatchObject({ status: 0, stderr: "" });
      }
      expect(await lab.hostLinks()).toEqual(["bn1"]);
    },
    limitMs,
  );

  it.each([
    {
      does: "an address is flushed",
      break: (pod: string) => [`-n ${pod} address flush dev net1`],
      says: "net1 does not have address 10.11.",
    },
    {
      does: "a route is missing",
      break: (pod: string) => [`-n ${pod} route del 10.99.0.0/16`],
      says: "no route to 10.99.0.0/16 via 10.11.12.1",
    },
    {
      does: "the MAC is another",
      break: (pod: string) => [`-n ${pod} link set net1 address 02:00:00:00:00:99`],
      says: "has MAC 02:00:00:00:00:99",
    },
    {
      does: "the name is another",
      break: (pod: string) => [`-n ${pod} link set net1 down`, `-n ${pod} link set net1 name net9`],
      says: "the pod has no interface net1",
    },
  ])(
    "fail CHECK with code 103 if $does",
    async ({ break: commands, says }) => {
      const pod = await lab.createPod();
      const { json: prevResult } = await lab.call("ADD", pod, newest);
      const check = () => lab.call("CHECK", pod, { ...newest, prevResult });
      expect(await check()).toMatchObject({ status: 0, stdout: "" });
      for (const command of commands(pod.namespace)) await ip(command);
      const { status, json } = await check();
      expect([status, json?.["code"]]).toEqual([1, 103]);
      expect(json?.["details"]).toContain(says);
      expect((await lab.call("DEL", pod, newest)).status).toBe(0);
    },
    limitMs,
  );

  it(
    "that the runtime no longer lists are deleted by GC, and no others",
    async () => {
      const [stale, valid] = await lab.createPods(["app-4-abcde", "app-5-abcde"]);
      if (stale === undefined || valid === undefined) throw new Error("no pods");
      for (const pod of [stale, valid]) expect((await lab.call("ADD", pod, newest)).status).toBe(0);
      const list = [{ containerID: valid.containerId, ifname: "net1" }];
      const gc = { ...newest, "cni.dev/valid-attachments": list };
      const nobody = { CNI_CONTAINERID: "", CNI_NETNS: "", CNI_IFNAME: "", CNI_ARGS: "" };
      expect(await lab.call("GC", stale, gc, { env: nobody })).toMatchObject({ status: 0, stdout: "" });
      expect([await podLink(stale, "net1"), (await podLink(valid, "net1"))?.up]).toEqual([undefined, true]);
      expect(lab.stateFiles()).toEqual([`${valid.containerId}:net1.json`]);
      expect((await lab.call("DEL", valid, newest)).status).toBe(0);
    },
    limitMs,
  );

  it(
    "pass STATUS, and cnitool's gc removes all of them",
    async () => {
      const pod = await lab.createPod();
      expect(await lab.cnitool("status", pod, newest, "net1")).toMatchObject({ status: 0, stderr: "" });
      expect((await lab.cnitool("add", pod, newest, "net1")).status).toBe(0);
      expect(await lab.cnitool("gc", pod, newest, "net1")).toMatchObject({ status: 0, stderr: "" });
      expect([await podLink(pod, "net1"), lab.stateFiles()]).toEqual([undefined, []]);
    },
    limitMs,
  );

  it(
    "are added and deleted, fifty at the same time",
    async () => {
      const pods = await lab.createPods(
        Array.from({ length: 50 }, (_, i) => `virt-launcher-app-${i}-027a9-abcde-fghij`),
      );
      const added = await Promise.all(pods.map((pod) => lab.call("ADD", pod, conf)));
      expect(added.filter(({ status }) => status !== 0)).toEqual([]);
      expect(zedrouter.connected()).toBe(50);
      const deleted = await Promise.all(pods.map((pod) => lab.call("DEL", pod, conf)));
      expect(deleted.filter(({ status }) => status !== 0)).toEqual([]);
      expect([await lab.hostLinks(), lab.stateFiles()]).toEqual([["bn1"], []]);
    },
    limitMs,
  );

  it(
    "get ten leases at the same time, and release them",
    async () => {
      const pods = await lab.createPods(Array.from({ length: 10 }, (_, i) => `native-${i}-abcde`));
      const added = await Promise.all(pods.map((pod) => lab.call("ADD", pod, conf)));
      expect(added.filter(({ status }) => status !== 0)).toEqual([]);
      const addresses = (await Promise.all(pods.map((pod) => podLink(pod, "net1")))).flatMap(
        (link) => link?.addresses ?? [],
      );
      expect(new Set(addresses).size).toBe(10);
      await Promise.all(pods.map((pod) => lab.call("DEL", pod, conf)));
      for (const address of addresses) await released(address);
      expect([await lab.hostLinks(), lab.stateFiles()]).toEqual([["bn1"], []]);
    },
    limitMs,
  );

  it(
    "with the same name are added and deleted one call after the other, in any order of the calls",
    async () => {
      const pod = await lab.createPod();
      const calls = ["ADD", "DEL", "ADD", "DEL", "DEL"].map((command) => lab.call(command, pod, conf));
      const outcomes = await Promise.all(calls);
      // A second ADD is refused; no other call may fail.
      for (const { status, json } of outcomes) expect([0, 4]).toContain(status === 0 ? 0 : json?.["code"]);
      expect((await lab.call("DEL", pod, conf)).status).toBe(0);
      expect([await lab.hostLinks(), lab.stateFiles()]).toEqual([["bn1"], []]);
    },
    limitMs,
  );

  it(
    "are logged as one line of JSON per step, without environment and configuration",
    async () => {
      const pod = await lab.createPod();
      const secret: Json = { ...conf, password: "secret-1" };
      await lab.call("ADD", pod, secret, { env: { TOKEN: "secret-2" } });
      await lab.call("DEL", pod, secret);
      const lines = logLines(lab).filter(({ containerId }) => containerId === pod.containerId);
      expect(lines.map(({ command, message }) => `${String(command)} ${String(message)}`)).toEqual([
        "ADD start",
        "ADD RPC ConnectPodAtL2",
        "ADD dhcp ADD",
        "ADD RPC ConnectPodAtL3",
        "ADD done",
        "DEL start",
        "DEL dhcp DEL",
        "DEL RPC DisconnectPod",
        "DEL done",
      ]);
      expect(JSON.stringify(lines)).not.toContain("secret");
    },
    limitMs,
  );
});
