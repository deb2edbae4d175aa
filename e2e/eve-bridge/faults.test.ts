// SPDX-License-Identifier: Apache-2.0
/**
 * Tests eve-bridge with faults of zedrouter, of the DHCP daemon, of the input and of the node. Each test ends with a
 * check that nothing is left.
 */
import { rmSync, writeFileSync } from "node:fs";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "@jest/globals";
import { createNetworkLab, startDhcpDaemon, type Dhcp } from "./dhcp.ts";
import { startFakeZedrouter, type FakeZedrouter, type Fault } from "./fake-zedrouter.ts";
import { describeInLab } from "./lab-support.ts";
import { createNodeLab, podLink, type Json, type NodeLab, type Pod } from "./node-lab.ts";
import { ip } from "./shell.ts";

const limitMs = 120_000;
/** Timeouts that are short enough for a test and long enough for a loaded machine without faults. */
const timeoutMs = { total: 40_000, dial: 500, rpc: 2_000, delegate: 4_000, undo: 20_000 };
const conf = { cniVersion: "1.1.0", name: "ni", type: "eve-bridge", eveBridge: { timeoutMs } };
const virtualMachine = "virt-launcher-app-1-027a9-abcde-fghij";

describeInLab("faults", () => {
  const resources = new AsyncDisposableStack();
  let lab: NodeLab;
  let zedrouter: FakeZedrouter;
  let dhcp: Dhcp;

  beforeAll(async () => {
    ({ lab, zedrouter, dhcp } = resources.use(await createNetworkLab()));
  }, limitMs);
  afterAll(() => resources.disposeAsync());
  beforeEach(() => {
    zedrouter.fault = () => undefined;
  });

  /** Expects that no interface, port or state file exists. */
  async function expectNothingLeft(pod: Pod): Promise<void> {
    expect([await podLink(pod, "net1"), await lab.hostLinks(), lab.stateFiles()]).toEqual([undefined, ["bn1"], []]);
  }

  const faultIn = (method: string, fault: Fault) => {
    zedrouter.fault = (request) => (request.method === method ? fault : undefined);
  };

  describe("of zedrouter", () => {
    const faults: { does: string; fault: Fault; code: number }[] = [
      { does: "refuses", fault: { refuse: "no" }, code: 100 },
      { does: "answers garbage", fault: { send: "\u0000\u0001HTTP/1.1 400\n" }, code: 101 },
      {
        does: "answers something else",
        fault: { send: '{"id":0,"result":7,"error":null}\n{"id":1,"result":7}\n' },
        code: 101,
      },
      { does: "closes in the middle of its answer", fault: "close-mid-answer", code: 11 },
      { does: "acts and never answers", fault: "act-silently", code: 11 },
      { does: "neither acts nor answers", fault: "ignore", code: 11 },
    ];

    it.each(faults)(
      "that $does at L2 fail ADD with code $code, and ADD is undone",
      async ({ fault, code }) => {
        faultIn("ConnectPodAtL2", fault);
        const pod = await lab.createPod();
        const { status, json } = await lab.call("ADD", pod, conf);
        expect([status, json?.["code"]]).toEqual([1, code]);
        await expectNothingLeft(pod);
        expect((await lab.call("DEL", pod, conf)).status).toBe(0);
      },
      limitMs,
    );

    it.each(faults)(
      "that $does at L3 fail ADD with code $code, and ADD and the lease are undone",
      async ({ fault, code }) => {
        faultIn("ConnectPodAtL3", fault);
        const pod = await lab.createPod();
        const { status, json } = await lab.call("ADD", pod, conf);
        expect([status, json?.["code"]]).toEqual([1, code]);
        await expectNothingLeft(pod);
        const ack = dhcp.messages().findLast(({ type }) => type === "ACK");
        await dhcp.wire.line((line) => line.includes('"RELEASE"') && line.includes(`"ciaddr":"${ack?.yiaddr ?? ""}"`));
      },
      limitMs,
    );

    it.each(faults)(
      "that $does at DisconnectPod fail DEL with code $code, and the next DEL succeeds",
      async ({ fault, code }) => {
        const pod = await lab.createPod();
        expect((await lab.call("ADD", pod, conf)).status).toBe(0);
        faultIn("DisconnectPod", fault);
        const { status, json } = await lab.call("DEL", pod, conf);
        expect([status, json?.["code"]]).toEqual([1, code]);
        zedrouter.fault = () => undefined;
        expect(await lab.call("DEL", pod, conf)).toMatchObject({ status: 0, stdout: "" });
        await expectNothingLeft(pod);
      },
      limitMs,
    );

    it.each(faults)(
      "that $does at CheckPodConnection fail CHECK with code $code",
      async ({ fault, code }) => {
        const pod = await lab.createPod(virtualMachine);
        const { json: prevResult } = await lab.call("ADD", pod, conf);
        faultIn("CheckPodConnection", fault);
        const { status, json } = await lab.call("CHECK", pod, { ...conf, prevResult });
        expect([status, json?.["code"]]).toEqual([1, code]);
        expect((await lab.call("DEL", pod, conf)).status).toBe(0);
      },
      limitMs,
    );

    it(
      "that answers everything twice have no effect",
      async () => {
        zedrouter.fault = () => "answer-twice";
        const pod = await lab.createPod();
        expect((await lab.call("ADD", pod, conf)).status).toBe(0);
        expect((await lab.call("DEL", pod, conf)).status).toBe(0);
        await expectNothingLeft(pod);
      },
      limitMs,
    );

    it(
      "that does not run: both wait for it a little; then ADD fails with code 11, and DEL succeeds if that ADD created nothing",
      async () => {
        await using other = await createNodeLab();
        const pod = await other.createPod();
        expect((await other.call("ADD", pod, conf)).json).toMatchObject({ code: 11, details: "ENOENT" });
        expect(await other.call("DEL", pod, conf)).toMatchObject({ status: 0, stdout: "" });
        expect(other.stateFiles()).toEqual([]);
        const late = other.call("ADD", await other.createPod(virtualMachine), {
          ...conf,
          eveBridge: { timeoutMs: { dial: 60_000 } },
        });
        await using started = await startFakeZedrouter({ socket: other.settings.rpcSocket, host: other.host });
        expect((await late).status).toBe(0);
        expect(started.connected()).toBe(1);
      },
      limitMs,
    );

    it(
      "that does not run fail DEL while an interface may be connected",
      async () => {
        await using other = await createNodeLab();
        const pod = await other.createPod(virtualMachine);
        {
          await using started = await startFakeZedrouter({ socket: other.settings.rpcSocket, host: other.host });
          expect((await other.call("ADD", pod, conf)).status).toBe(0);
          expect(started.connected()).toBe(1);
        }
        expect((await other.call("DEL", pod, conf)).json).toMatchObject({ code: 11 });
        // Without eve-bridge's record, as for interfaces of the Go plugin, and also if the namespace of the pod is
        // gone.
        rmSync(other.settings.stateDir, { recursive: true });
        const msg = "cannot delete net1: zedrouter is not reachable, and there is no record of the interface";
        for (const netns of [pod.netns, "/var/run/netns/gone"]) {
          expect((await other.call("DEL", { ...pod, netns }, conf)).json).toMatchObject({ code: 11, msg });
        }
        await ip(`-n ${other.host} link delete bn1`); // the new zedrouter creates it again
        await using _ = await startFakeZedrouter({ socket: other.settings.rpcSocket, host: other.host });
        expect((await other.call("DEL", pod, conf)).status).toBe(0);
        expect(await other.call("DEL", pod, conf)).toMatchObject({ status: 0, stdout: "" });
      },
      limitMs,
    );
  });

  describe("of the DHCP daemon", () => {
    it(
      "that does not run: ADD is undone, DEL succeeds because the daemon's leases are lost with it",
      async () => {
        const connected = await lab.createPod();
        expect((await lab.call("ADD", connected, conf)).status).toBe(0);
        await dhcp.daemon[Symbol.asyncDispose]();
        try {
          const pod = await lab.createPod("app-2-abcde");
          const { status, json } = await lab.call("ADD", pod, conf);
          expect([status, json?.["msg"]]).toEqual([1, expect.stringContaining("dhcp plugin failed to ADD net1")]);
          expect(await lab.call("DEL", connected, conf)).toMatchObject({ status: 0, stdout: "" });
          await expectNothingLeft(pod);
          await expectNothingLeft(connected);
          expect((await lab.call("STATUS", pod, conf)).json).toMatchObject({ code: 51 });
        } finally {
          dhcp = { ...dhcp, daemon: resources.use(await startDhcpDaemon(lab)) };
        }
      },
      limitMs,
    );

    it(
      "that was started again: doctor says that a lease is not renewed, and renew makes the daemon request it",
      async () => {
        const pod = await lab.createPod("app-5-abcde");
        expect((await lab.call("ADD", pod, conf)).status).toBe(0);
        const address = (await podLink(pod, "net1"))?.addresses[0]?.split("/")[0] ?? "";
        const leasesOf = async () => {
          const { findings } = JSON.parse((await lab.tool("doctor", "-o", "json")).stdout) as {
            readonly findings: readonly { readonly check: string; readonly state: string }[];
          };
          return findings.find(({ check }) => check === "leases");
        };
        expect(await leasesOf()).toMatchObject({ state: "ok" });
        await dhcp.daemon[Symbol.asyncDispose]();
        dhcp = { ...dhcp, daemon: resources.use(await startDhcpDaemon(lab)) };
        expect(await leasesOf()).toMatchObject({ state: "failing" });
        const requests = () => dhcp.messages().filter(({ type }) => type === "REQUEST").length;
        const before = requests();
        expect(await lab.tool("renew")).toMatchObject({ status: 0, stdout: `renewed ${pod.containerId} net1\n` });
        expect(await leasesOf()).toMatchObject({ state: "ok" });
        expect(requests()).toBeGreaterThan(before);
        expect(dhcp.leases().filter((line) => line.includes(` ${address} `))).toHaveLength(1);
        expect((await lab.call("DEL", pod, conf)).status).toBe(0);
        await dhcp.wire.line((line) => line.includes('"RELEASE"') && line.includes(`"ciaddr":"${address}"`));
        await expectNothingLeft(pod);
      },
      limitMs,
    );

    it(
      "that does not answer: ADD fails within its time limit and leaves no interface; DEL succeeds when the daemon answers again",
      async () => {
        const [pod, connected] = await lab.createPods(["app-3-abcde", "app-4-abcde"]);
        if (pod === undefined || connected === undefined) throw new Error("no pods");
        expect((await lab.call("ADD", connected, conf)).status).toBe(0);
        dhcp.daemon.signal("SIGSTOP");
        try {
          const [added, deleted] = await Promise.all([lab.call("ADD", pod, conf), lab.call("DEL", connected, conf)]);
          expect([added.status, added.json?.["code"], deleted.status, deleted.json?.["code"]]).toEqual([1, 11, 1, 11]);
          expect([await podLink(pod, "net1"), await podLink(connected, "net1")]).toEqual([undefined, undefined]);
          expect(await lab.hostLinks()).toEqual(["bn1"]);
        } finally {
          dhcp.daemon.signal("SIGCONT");
        }
        for (const one of [pod, connected])
          expect(await lab.call("DEL", one, conf)).toMatchObject({ status: 0, stdout: "" });
        await expectNothingLeft(pod);
      },
      limitMs,
    );

    it(
      "that gets no answer from a server: ADD fails within its time limit and is undone",
      async () => {
        await using other = await createNodeLab();
        await using started = await startFakeZedrouter({ socket: other.settings.rpcSocket, host: other.host });
        await using daemon = await startDhcpDaemon(other);
        const pod = await other.createPod();
        const { json } = await other.call("ADD", pod, conf);
        expect([json?.["code"], started.connected(), daemon.pid > 0]).toEqual([11, 0, true]);
        expect([await other.hostLinks(), other.stateFiles()]).toEqual([["bn1"], []]);
      },
      limitMs,
    );
  });

  describe("of the node", () => {
    it(
      "that detach the host's end of the interface, or delete it, are found by CHECK",
      async () => {
        const pod = await lab.createPod("app-6-abcde");
        const { json: prevResult } = await lab.call("ADD", pod, conf);
        const check = () => lab.call("CHECK", pod, { ...conf, prevResult });
        expect(await check()).toMatchObject({ status: 0 });
        const [end = ""] = (await lab.hostLinks()).filter((name) => name !== "bn1");
        await ip(`-n ${lab.host} link set ${end} nomaster`);
        expect((await check()).json).toMatchObject({
          code: 103,
          details: `${end} of the host is attached to no bridge, expected bn1`,
        });
        expect((await lab.call("DEL", pod, conf)).status).toBe(0);
        await expectNothingLeft(pod);
      },
      limitMs,
    );

    it(
      "that lose the records: a DEL without CNI_ARGS releases the lease and deletes the interface",
      async () => {
        const pod = await lab.createPod("app-7-abcde");
        expect((await lab.call("ADD", pod, conf)).status).toBe(0);
        const address = (await podLink(pod, "net1"))?.addresses[0]?.split("/")[0] ?? "";
        rmSync(lab.settings.stateDir, { recursive: true });
        expect((await lab.call("DEL", pod, conf, { env: { CNI_ARGS: "" } })).status).toBe(0);
        await dhcp.wire.line((line) => line.includes('"RELEASE"') && line.includes(`"ciaddr":"${address}"`));
        expect([await podLink(pod, "net1"), await lab.hostLinks()]).toEqual([undefined, ["bn1"]]);
        expect((await lab.call("DEL", pod, conf)).status).toBe(0); // zedrouter forgets it, too
      },
      limitMs,
    );
  });

  describe("of plugins", () => {
    it(
      "that do not exist are named in the error, and ADD is undone",
      async () => {
        const pod = await lab.createPod();
        const { json } = await lab.call("ADD", pod, conf, { env: { CNI_PATH: "/nowhere" } });
        expect(json).toMatchObject({ code: 7, msg: 'failed to find plugin "dhcp" in path [/nowhere]' });
        expect((await lab.call("DEL", pod, conf)).status).toBe(0);
        await expectNothingLeft(pod);
      },
      limitMs,
    );
  });

  describe("of the input", () => {
    const whole = JSON.stringify(conf);
    const cut = Array.from({ length: 12 }, (_, i) => whole.slice(0, Math.floor((whole.length * i) / 12)));

    it.each(["ADD", "DEL", "CHECK", "GC", "STATUS"])(
      "%s with a truncated configuration fails with code 6",
      async (command) => {
        const pod = await lab.createPod();
        const answers = await Promise.all(cut.map((stdin) => lab.call(command, pod, conf, { stdin })));
        expect(answers.map(({ status, json }) => [status, json?.["code"]])).toEqual(cut.map(() => [1, 6]));
      },
      limitMs,
    );

    it(
      "a configuration of 1 MiB is accepted, and 1 MiB of garbage is refused",
      async () => {
        const pod = await lab.createPod(virtualMachine);
        const big = { ...conf, padding: "x".repeat(1 << 20) };
        expect((await lab.call("ADD", pod, big)).status).toBe(0);
        expect((await lab.call("DEL", pod, big)).status).toBe(0);
        const garbage = await lab.call("ADD", pod, conf, { stdin: Buffer.alloc(1 << 20, 0xff) });
        expect([garbage.status, garbage.json?.["code"]]).toEqual([1, 6]);
        await expectNothingLeft(pod);
      },
      limitMs,
    );

    const wrongValues = [null, true, 7, "text", [], [1], { a: 1 }];
    it.each(["cniVersion", "name", "eveBridge", "networkInstance", "prevResult", "ipam", "nodeIP"])(
      "%s of any type is accepted or refused with a code of the specification, and nothing is left",
      async (member) => {
        const pod = await lab.createPod(virtualMachine);
        for (const value of wrongValues) {
          const own: Json = { ...conf, [member]: value };
          for (const command of ["ADD", "DEL"]) {
            const { status, json, stderr } = await lab.call(command, pod, own);
            expect(stderr).toBe("");
            if (status !== 0) expect([1, 6, 7]).toContain(json?.["code"]);
          }
          expect((await lab.call("DEL", pod, conf)).status).toBe(0);
        }
        await expectNothingLeft(pod);
      },
      limitMs,
    );

    it.each([
      { what: "an invalid MAC", args: `K8S_POD_NAME=${virtualMachine};MAC=02:16:3e:zz:00:01`, code: 4 },
      { what: "a MAC that zedrouter refuses", args: `K8S_POD_NAME=${virtualMachine}`, code: 100 },
      { what: "invalid arguments", args: "K8S_POD_NAME", code: 4 },
      { what: "unknown arguments", args: "A=1", code: 4 },
      { what: "no pod", args: "", code: 4 },
    ])(
      "$what fails with code $code",
      async ({ args, code }) => {
        const pod = await lab.createPod();
        const { status, json } = await lab.call("ADD", { ...pod, args }, conf);
        expect([status, json?.["code"]]).toEqual([1, code]);
        await expectNothingLeft(pod);
      },
      limitMs,
    );

    it.each([
      { what: "that is gone", netns: "/var/run/netns/eve-bridge-gone", code: 3 },
      { what: "that is a regular file", netns: "/etc/passwd", code: 100 },
      { what: "that is the host's", netns: "", code: 8 },
    ])(
      "a network namespace $what fails with code $code",
      async ({ netns, code }) => {
        const pod = await lab.createPod(virtualMachine);
        const path = netns === "" ? `/var/run/netns/${lab.host}` : netns;
        const { status, json } = await lab.call("ADD", { ...pod, netns: path }, conf);
        expect([status, json?.["code"]]).toEqual([1, code]);
        await expectNothingLeft(pod);
      },
      limitMs,
    );

    it(
      "a missing network namespace does not prevent DEL",
      async () => {
        const pod = await lab.createPod();
        expect((await lab.call("ADD", pod, conf)).status).toBe(0);
        const gone = { ...pod, netns: "/var/run/netns/eve-bridge-gone" };
        expect(await lab.call("DEL", gone, conf)).toMatchObject({ status: 0, stdout: "" });
        await expectNothingLeft(pod);
      },
      limitMs,
    );
  });

  describe("of the node", () => {
    async function withSettings(change: Json, act: (env: NodeJS.ProcessEnv) => Promise<void>): Promise<void> {
      const file = lab.path("other-settings.json");
      writeFileSync(file, JSON.stringify({ ...lab.settings, ...change }));
      await act({ EVE_BRIDGE_CONFIG: file });
    }

    it.each([
      { what: "does not exist", logFile: "/nowhere/at/all/log" },
      { what: "is full", logFile: "/dev/full" },
      { what: "is a directory", logFile: "/proc" },
    ])(
      "a log file that $what does not affect the answers",
      ({ logFile }) =>
        withSettings({ logFile }, async (env) => {
          const pod = await lab.createPod(virtualMachine);
          for (const command of ["VERSION", "STATUS", "ADD", "DEL"]) {
            expect(await lab.call(command, pod, conf, { env })).toMatchObject({ status: 0, stderr: "" });
          }
        }),
      limitMs,
    );

    it(
      "state that cannot be written fails ADD with code 5 before ADD creates anything, and does not prevent DEL",
      () =>
        withSettings({ stateDir: "/proc/nowhere" }, async (env) => {
          const pod = await lab.createPod(virtualMachine);
          const before = zedrouter.requests.length;
          expect((await lab.call("ADD", pod, conf, { env })).json).toMatchObject({ code: 5 });
          expect(zedrouter.requests.length).toBe(before);
          expect((await lab.call("DEL", pod, conf, { env })).status).toBe(0);
        }),
      limitMs,
    );

    it(
      "SIGTERM makes ADD stop and undo what it did",
      async () => {
        const pod = await lab.createPod(virtualMachine);
        let pid = 0;
        zedrouter.fault = ({ method }) => (method === "ConnectPodAtL2" ? "act-silently" : undefined);
        zedrouter.onStep = (step, { method }) => {
          if (step === "done" && method === "ConnectPodAtL2") process.kill(pid, "SIGTERM");
        };
        const slow = { ...conf, eveBridge: { timeoutMs: { ...timeoutMs, rpc: 15_000 } } };
        const { status, json } = await lab.call("ADD", pod, slow, { onStart: (started) => (pid = started) });
        zedrouter.onStep = () => undefined;
        expect([status, json?.["code"], json?.["msg"]]).toEqual([1, 11, "stopped by a signal"]);
        await expectNothingLeft(pod);
      },
      limitMs,
    );
  });

  it(
    "a call that waits too long for another call for the same interface fails with code 11",
    async () => {
      const pod = await lab.createPod(virtualMachine);
      let entered: () => void = () => undefined;
      let proceed: () => void = () => undefined;
      const inside = new Promise<void>((resolve) => (entered = resolve));
      const released = new Promise<void>((resolve) => (proceed = resolve));
      zedrouter.onStep = (step) => {
        if (step === "done") return undefined;
        entered();
        return released;
      };
      const slow = { ...conf, eveBridge: { timeoutMs: { ...timeoutMs, rpc: 15_000, lock: 100 } } };
      const first = lab.call("ADD", pod, slow);
      await inside;
      const second = await lab.call("DEL", pod, slow);
      zedrouter.onStep = () => undefined;
      proceed();
      expect(second.json).toMatchObject({ code: 11, msg: "another call for the same interface is still running" });
      expect((await first).status).toBe(0);
      expect((await lab.call("DEL", pod, conf)).status).toBe(0);
    },
    limitMs,
  );
});
