// SPDX-License-Identifier: Apache-2.0
/**
 * Kills eve-bridge between any two of its steps. It does so before each of its system calls that changes or connects
 * something (strace counts them), while zedrouter handles a request, and while a plugin runs, which then continues
 * without eve-bridge. Afterwards a DEL, or only a GC, must leave no interface, lease, address or file.
 */
import { chmodSync, mkdirSync, readdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "@jest/globals";
import { disposeOf } from "../src/dispose-of.ts";
import { createNetworkLab, type Dhcp, type NetworkLab } from "./dhcp.ts";
import type { FakeZedrouter } from "./fake-zedrouter.ts";
import { describeInLab } from "./lab-support.ts";
import { podLink, type Answer, type CallOptions, type Json, type NodeLab, type Pod } from "./node-lab.ts";

const limitMs = 300_000;
const conf = { cniVersion: "1.1.0", name: "ni", type: "eve-bridge" };

/**
 * System calls, each with its names on the architectures. "?" makes strace ignore names that this architecture does not
 * have.
 */
const calls = [
  "?mkdir,?mkdirat",
  "?rename,?renameat,?renameat2",
  "?unlink,?unlinkat",
  "?rmdir",
  "connect",
  "write",
  "exit_group",
];

/** Before the nth system call of a kind. */
interface Moment {
  readonly kind: string;
  readonly n: number;
}

/** How the runtime cleans up. */
const cleanups = ["DEL", "GC"] as const;
type Cleanup = (typeof cleanups)[number];

describeInLab("killed", () => {
  let networkLab: NetworkLab;
  let lab: NodeLab;
  let zedrouter: FakeZedrouter;
  let dhcp: Dhcp;
  let clusterConf: Json;

  beforeAll(async () => {
    networkLab = await createNetworkLab();
    ({ lab, zedrouter, dhcp } = networkLab);
    const ipam = {
      type: "host-local",
      ranges: [[{ subnet: "10.42.0.0/24" }]],
      routes: [],
      dataDir: lab.path("host-local"),
    };
    clusterConf = { cniVersion: "1.1.0", name: "cbr0", type: "eve-bridge", nodeIP: "10.0.0.9/32", ipam };
  }, limitMs);
  afterAll(async () => {
    await disposeOf(networkLab);
  });
  beforeEach(() => {
    zedrouter.onStep = () => undefined;
  });

  const confOf = (ifName: string) => (ifName === "eth0" ? clusterConf : conf);
  const macOf = ({ args }: Pod) => /MAC=([0-9a-f:]+)/.exec(args)?.[1] ?? "";

  /** Cleans up as the runtime would, and expects that nothing is left. */
  async function expectNothingLeft(pod: Pod, ifName: string, cleanup: Cleanup): Promise<void> {
    const own = cleanup === "GC" ? { ...confOf(ifName), "cni.dev/valid-attachments": [] } : confOf(ifName);
    expect(await lab.call(cleanup, pod, own, { ifName })).toMatchObject({ status: 0, stdout: "", stderr: "" });
    const left = (await lab.hostLinks()).filter((name) => name !== "bn1" && name !== "cni0");
    expect([await podLink(pod, ifName), left, lab.stateFiles(), givenAddresses()]).toEqual([undefined, [], [], []]);
    const mac = macOf(pod);
    if (dhcp.messages().some((message) => message.type === "ACK" && message.mac === mac)) {
      await dhcp.wire.line((line) => line.includes('"RELEASE"') && line.includes(`"mac":"${mac}"`));
    }
    const last = dhcp
      .messages()
      .findLast((message) => message.mac === mac && ["ACK", "RELEASE"].includes(message.type));
    expect(last?.type).not.toBe("ACK");
  }

  function givenAddresses(): string[] {
    try {
      return readdirSync(lab.path("host-local", "cbr0")).filter((name) => /^\d/.test(name));
    } catch {
      return [];
    }
  }

  const wasKilled = ({ signal, status }: Answer) => signal === "SIGKILL" || status === 137;

  /** Calls eve-bridge, and kills it before the nth system call of one kind. */
  function callKilledAt({ kind, n }: Moment, command: string, pod: Pod, ifName: string): Promise<Answer> {
    const inject = `inject=${kind}:signal=SIGKILL:when=${n}`;
    const strace = ["strace", "-qq", "-o", "/dev/null", "-e", `trace=${kind}`, "-e", inject, ...lab.program];
    return lab.call(command, pod, confOf(ifName), { ifName, command: strace });
  }

  /** Runs `act` for each kind of call with n = 1, 2, … until eve-bridge was not killed. Returns the number of kills. */
  async function atEachCall(act: (moment: Moment) => Promise<Answer>): Promise<number> {
    let kills = 0;
    for (const kind of calls) {
      for (let n = 1; ; n++) {
        const answer = await act({ kind, n });
        if (!wasKilled(answer)) {
          expect(answer).toMatchObject({ status: 0, stderr: "" });
          break;
        }
        kills++;
      }
    }
    return kills;
  }

  describe.each(cleanups)("and then %s", (cleanup) => {
    it.each([
      { ifName: "net1", podName: "app-1-abcde", least: 20 },
      { ifName: "net1", podName: "virt-launcher-app-1-027a9-abcde-fghij", least: 15 },
      { ifName: "eth0", podName: "app-2-abcde", least: 15 },
    ])(
      "leaves nothing of an ADD that was killed before any system call: $ifName of $podName",
      async ({ ifName, podName, least }) => {
        const kills = await atEachCall(async (moment) => {
          const pod = await lab.createPod(podName);
          const answer = await callKilledAt(moment, "ADD", pod, ifName);
          await expectNothingLeft(pod, ifName, cleanup);
          return answer;
        });
        expect(kills).toBeGreaterThanOrEqual(least);
      },
      limitMs,
    );

    it.each([
      { ifName: "net1", podName: "app-1-abcde", least: 10 },
      { ifName: "eth0", podName: "app-2-abcde", least: 10 },
    ])(
      "leaves nothing of a DEL that was killed before any system call: $ifName",
      async ({ ifName, podName, least }) => {
        const kills = await atEachCall(async (moment) => {
          const pod = await lab.createPod(podName);
          expect((await lab.call("ADD", pod, confOf(ifName), { ifName })).status).toBe(0);
          const answer = await callKilledAt(moment, "DEL", pod, ifName);
          await expectNothingLeft(pod, ifName, cleanup);
          return answer;
        });
        expect(kills).toBeGreaterThanOrEqual(least);
      },
      limitMs,
    );

    it.each([
      { command: "ADD", method: "ConnectPodAtL2", step: "received" },
      { command: "ADD", method: "ConnectPodAtL2", step: "done" },
      { command: "ADD", method: "ConnectPodAtL3", step: "received" },
      { command: "ADD", method: "ConnectPodAtL3", step: "done" },
      { command: "DEL", method: "DisconnectPod", step: "received" },
      { command: "DEL", method: "DisconnectPod", step: "done" },
    ] as const)(
      "leaves nothing of $command that was killed when zedrouter has $step $method",
      async ({ command, method, step }) => {
        const pod = await lab.createPod();
        if (command === "DEL") expect((await lab.call("ADD", pod, conf)).status).toBe(0);
        let pid = 0;
        zedrouter.onStep = (at, request) => {
          if (at === step && request.method === method && pid !== 0) process.kill(pid, "SIGKILL");
        };
        const answer = await lab.call(command, pod, conf, { onStart: (started) => (pid = started) });
        expect(wasKilled(answer)).toBe(true);
        zedrouter.onStep = () => undefined;
        await expectNothingLeft(pod, "net1", cleanup);
      },
      limitMs,
    );

    it.each([
      { plugin: "dhcp", ifName: "net1", command: "ADD", moment: "before" },
      { plugin: "dhcp", ifName: "net1", command: "ADD", moment: "after" },
      { plugin: "dhcp", ifName: "net1", command: "DEL", moment: "before" },
      { plugin: "dhcp", ifName: "net1", command: "DEL", moment: "after" },
      { plugin: "bridge", ifName: "eth0", command: "ADD", moment: "before" },
      { plugin: "bridge", ifName: "eth0", command: "ADD", moment: "after" },
      { plugin: "bridge", ifName: "eth0", command: "DEL", moment: "before" },
      { plugin: "bridge", ifName: "eth0", command: "DEL", moment: "after" },
    ] as const)(
      "leaves nothing of $command of $ifName that was killed $moment the $plugin plugin worked, while the plugin continues",
      async ({ plugin, ifName, command, moment }) => {
        const pod = await lab.createPod();
        if (command === "DEL") expect((await lab.call("ADD", pod, confOf(ifName), { ifName })).status).toBe(0);
        const answer = await lab.call(command, pod, confOf(ifName), { ifName, ...murderous(plugin, command, moment) });
        expect(wasKilled(answer)).toBe(true);
        await expectNothingLeft(pod, ifName, cleanup);
      },
      limitMs,
    );
  });

  /** Returns a CNI directory whose `plugin` kills its caller and continues. */
  function murderous(plugin: string, command: string, moment: "before" | "after"): CallOptions {
    const dir = lab.path("murderous");
    rmSync(dir, { recursive: true, force: true });
    mkdirSync(dir);
    for (const name of ["bridge", "dhcp", "host-local"]) {
      if (name !== plugin) symlinkSync(join(lab.tools, name), join(dir, name));
    }
    const real = join(lab.tools, plugin);
    const kill = `[ "$CNI_COMMAND" != ${command} ] || kill -9 $PPID`;
    const script =
      moment === "before"
        ? `${kill}\nexec ${real}`
        : `${real} > ${dir}/out\nstatus=$?\n${kill}\ncat ${dir}/out\nexit $status`;
    writeFileSync(join(dir, plugin), `#!/bin/sh\n${script}\n`);
    chmodSync(join(dir, plugin), 0o755);
    return { env: { CNI_PATH: dir } };
  }
});
