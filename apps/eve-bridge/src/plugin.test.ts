// SPDX-License-Identifier: Apache-2.0
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { describe, expect, it } from "@jest/globals";
import { writeRecord } from "./state/attachment-record.ts";
import { cniCode } from "./request/cni-error.ts";
import type { JsonObject } from "./request/json.ts";
import { runPlugin } from "./plugin.ts";
import { createStopSignal } from "./process/stop-signal.ts";
import { listen, refusalOf, replyTo, type Received, type RpcServer } from "./testing/rpc-server.ts";
import { createScratch, type Scratch } from "./testing/scratch.ts";

/**
 * A node with directories, plugins and settings. Its network namespace is an ordinary directory, which no test enters.
 */
interface Node extends AsyncDisposable {
  readonly scratch: Scratch;
  /** The calls of the fake `bridge` and `dhcp` plugins, in order. */
  delegations(): string[];
  /** Starts a server on a socket of the node. */
  listen(socket: "rpc" | "dhcp.sock", answer: (request: Received) => string): Promise<RpcServer>;
  /** The names of all files in the state directory. */
  state(): string[];
  run(
    command: string,
    options?: { conf?: JsonObject; env?: NodeJS.ProcessEnv; stdin?: string; print?: () => void },
  ): Promise<Outcome>;
}

interface Outcome {
  readonly status: number;
  readonly printed: JsonObject | undefined;
}

const conf = { cniVersion: "1.1.0", name: "ni", type: "eve-bridge", eveBridge: { timeoutMs: { dial: 30 } } };
const clusterConf = {
  cniVersion: "0.3.1",
  name: "cbr0",
  type: "eve-bridge",
  nodeIP: "10.0.0.9/32",
  ipam: { type: "host-local", routes: [] },
};
const lease = {
  cniVersion: "1.0.0",
  ips: [{ address: "10.0.0.5/24", gateway: "10.0.0.1" }],
  routes: [
    { dst: "10.1.0.0/16", gw: "0.0.0.0" },
    { dst: "0.0.0.0/0", gw: "10.0.0.1" },
  ],
};

function createNode(plugins: { dhcp?: string; bridge?: string } = {}): Node {
  const resources = new AsyncDisposableStack();
  const scratch = resources.use(createScratch());
  const log = scratch.path("delegations");
  mkdirSync(scratch.path("netns"));
  mkdirSync(scratch.path("bin"));
  for (const name of ["bridge", "dhcp"] as const) {
    const script = plugins[name] ?? `[ "$CNI_COMMAND" != ADD ] || echo '${JSON.stringify(lease)}'`;
    const body = `#!/bin/sh\necho "${name} $CNI_COMMAND" >> ${log}\ncat > ${scratch.path("conf")}-${name}-$CNI_COMMAND\n${script}\n`;
    writeFileSync(scratch.path("bin", name), body);
    chmodSync(scratch.path("bin", name), 0o755);
  }
  const settings = {
    rpcSocket: scratch.path("rpc"),
    dhcpSocket: scratch.path("dhcp.sock"),
    markerDir: scratch.path("markers"),
    stateDir: scratch.path("state"),
    logFile: scratch.path("log"),
  };
  writeFileSync(scratch.path("settings.json"), JSON.stringify(settings));
  return {
    scratch,
    async listen(socket, answer) {
      return resources.use(await listen(scratch.path(socket), (request, peer) => peer.write(answer(request))));
    },
    delegations: () => (existsSync(log) ? readFileSync(log, "utf8").trim().split("\n") : []),
    state: () =>
      ["attachments", "locks"].flatMap((dir) =>
        existsSync(scratch.path("state", dir)) ? readdirSync(scratch.path("state", dir)) : [],
      ),
    async run(command, { conf: own = conf, env = {}, stdin = JSON.stringify(own), print } = {}) {
      const texts: string[] = [];
      const status = await runPlugin({
        env: {
          CNI_COMMAND: command,
          CNI_CONTAINERID: "0af",
          CNI_NETNS: scratch.path("netns"),
          CNI_IFNAME: "net1",
          CNI_PATH: scratch.path("bin"),
          CNI_ARGS: "K8S_POD_NAMESPACE=eve-kube-app;K8S_POD_NAME=app-1-abcde;MAC=02:16:3e:5e:6c:01",
          EVE_BRIDGE_CONFIG: scratch.path("settings.json"),
          ...env,
        },
        readStdin: () => Promise.resolve(stdin),
        print: (text) => {
          print?.();
          texts.push(text);
        },
        stopSignal: () => createStopSignal().signal,
      });
      const [text] = texts;
      return { status, printed: text === undefined ? undefined : (JSON.parse(text) as JsonObject) };
    },
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  };
}

/** A zedrouter that accepts every request. */
function answer(request: Received, useDhcp = true): string {
  const { PodInterface: pod } = request.params as { PodInterface: { Name: string; NetNsPath: string } };
  switch (request.method) {
    case "RPCServer.ConnectPodAtL2":
      return replyTo(request, {
        UseDHCP: useDhcp,
        Interfaces: [
          { Name: "bn1", MAC: "AhY+AAAB", NetNsPath: "" },
          { Name: "nbu1x1", MAC: null, NetNsPath: "" },
          { Name: pod.Name, MAC: "AhY+XmwB", NetNsPath: pod.NetNsPath },
        ],
      });
    case "RPCServer.DisconnectPod":
      return replyTo(request, { UsedDHCP: useDhcp });
    default:
      return replyTo(request, { UsesDHCP: useDhcp });
  }
}

const methodsOf = (received: readonly Received[]) => received.map(({ method }) => method.replace("RPCServer.", ""));
const startDaemon = (node: Node) => node.listen("dhcp.sock", () => "");
const startZedrouter = (node: Node, useDhcp = true) => node.listen("rpc", (request) => answer(request, useDhcp));
const virtualMachine = {
  CNI_ARGS: "IgnoreUnknown=1;K8S_POD_NAME=virt-launcher-app-1-abcde-fghij;MAC=02:16:3e:5e:6c:01",
};

describe("ADD in a network instance", () => {
  it("connects at L2, acquires a lease, sets the address, and prints the result", async () => {
    await using node = createNode();
    const zedrouter = await startZedrouter(node);
    expect(await node.run("ADD")).toEqual({
      status: 0,
      printed: {
        cniVersion: "1.1.0",
        interfaces: [
          { name: "bn1", mac: "02:16:3e:00:00:01" },
          { name: "nbu1x1" },
          { name: "net1", mac: "02:16:3e:5e:6c:01", sandbox: node.scratch.path("netns") },
        ],
        ips: [{ interface: 2, address: "10.0.0.5/24", gateway: "10.0.0.1" }],
        routes: [{ dst: "10.1.0.0/16" }, { dst: "0.0.0.0/0", gw: "10.0.0.1" }],
        dns: {},
      },
    });
    expect(methodsOf(zedrouter.received)).toEqual(["ConnectPodAtL2", "ConnectPodAtL3"]);
    expect(zedrouter.received[1]?.params).toMatchObject({
      Pod: { Name: "app-1-abcde", Namespace: "eve-kube-app" },
      IPs: [{ Address: { IP: "10.0.0.5", Mask: "////AA==" }, Gateway: "10.0.0.1" }],
      Routes: [{ GW: "" }, { GW: "10.0.0.1" }],
    });
    expect(node.state()).toEqual(["0af:net1.json"]);
  });

  it("passes the DHCP plugin the runtime's configuration with a client id made from the MAC", async () => {
    await using node = createNode();
    await startZedrouter(node);
    await node.run("ADD", { conf: { ...conf, ipam: { type: "whatever" }, extra: [1] } });
    expect(JSON.parse(readFileSync(node.scratch.path("conf-dhcp-ADD"), "utf8"))).toMatchObject({
      name: "ni",
      extra: [1],
      ipam: { type: "dhcp", provide: [{ option: "dhcp-client-identifier", value: "\u0000eve-mac-02163e5e6c01" }] },
    });
  });

  it.each([
    { whose: "a virtual machine", env: virtualMachine, useDhcp: true },
    { whose: "a pod in an air-gapped network", env: {}, useDhcp: false },
  ])("stops at L2 for $whose", async ({ env, useDhcp }) => {
    await using node = createNode();
    const zedrouter = await startZedrouter(node, useDhcp);
    const { status, printed } = await node.run("ADD", { env });
    expect([status, printed?.["ips"], methodsOf(zedrouter.received), node.delegations()]).toEqual([
      0,
      undefined,
      ["ConnectPodAtL2"],
      [],
    ]);
  });

  it("keeps the result of earlier plugins of the chain", async () => {
    await using node = createNode();
    await startZedrouter(node, false);
    const prevResult = {
      cniVersion: "1.1.0",
      interfaces: [{ name: "first" }],
      ips: [{ interface: 0, address: "10.9.0.1/24" }],
    };
    const { printed } = await node.run("ADD", { conf: { ...conf, prevResult } });
    expect(printed).toMatchObject({
      interfaces: [{ name: "first" }, { name: "bn1" }, {}, {}],
      ips: [{ interface: 0 }],
    });
  });

  it("refuses a second ADD until DEL", async () => {
    await using node = createNode();
    await startZedrouter(node);
    expect((await node.run("ADD")).status).toBe(0);
    expect(await node.run("ADD")).toMatchObject({ status: 1, printed: { code: cniCode.invalidEnvironment } });
    expect((await node.run("DEL")).status).toBe(0);
    expect((await node.run("ADD")).status).toBe(0);
  });

  it("first removes what a killed ADD left", async () => {
    await using node = createNode();
    const zedrouter = await startZedrouter(node);
    writeRecord(node.scratch.path("state"), {
      containerId: "0af",
      ifName: "net1",
      network: "ni",
      netns: "/gone",
      args: "",
      conf: {},
      step: "leasing",
      lease: true,
    });
    expect((await node.run("ADD")).status).toBe(0);
    expect(methodsOf(zedrouter.received)).toEqual(["DisconnectPod", "ConnectPodAtL2", "ConnectPodAtL3"]);
    expect(node.delegations()).toEqual(["dhcp DEL", "dhcp DEL", "dhcp ADD"]);
  });

  it.each([
    {
      does: "has no pod name",
      env: { CNI_ARGS: "" },
      code: cniCode.invalidEnvironment,
      says: "K8S_POD_NAME is missing",
    },
    {
      does: "has an invalid MAC",
      env: { CNI_ARGS: "K8S_POD_NAME=a;MAC=zz" },
      code: cniCode.invalidEnvironment,
      says: "MAC is not a hardware address",
    },
    {
      does: "has a namespace that does not exist",
      env: { CNI_NETNS: "/nowhere" },
      code: cniCode.unknownContainer,
      says: "does not exist",
    },
    {
      does: "has the host's namespace",
      env: { CNI_NETNS: "/proc/self/ns/net" },
      code: cniCode.invalidNetns,
      says: "of the host",
    },
    { does: "has invalid CNI_ARGS", env: { CNI_ARGS: "a" }, code: cniCode.invalidEnvironment, says: "CNI_ARGS" },
  ])("that $does fails before anybody is asked", async ({ env, code, says }) => {
    await using node = createNode();
    const zedrouter = await startZedrouter(node);
    const { status, printed } = await node.run("ADD", { env });
    expect([status, printed?.["code"], zedrouter.received, node.state()]).toEqual([1, code, [], []]);
    expect(printed?.["msg"]).toContain(says);
  });

  it("fails with code 11 and leaves no state if zedrouter is not reachable", async () => {
    await using node = createNode();
    expect(await node.run("ADD")).toMatchObject({
      status: 1,
      printed: { cniVersion: "1.1.0", code: cniCode.tryAgain },
    });
    expect(node.state()).toEqual([]);
  });
});

describe("a failed ADD is undone and", () => {
  async function failing(options: {
    plugins?: { dhcp?: string };
    answer?: (request: Received) => string;
    version?: string;
    print?: () => void;
  }) {
    await using node = createNode(options.plugins);
    const zedrouter = await node.listen("rpc", (request) => (options.answer ?? answer)(request));
    const { status, printed } = await node.run("ADD", {
      conf: { ...conf, cniVersion: options.version ?? "1.1.0" },
      ...(options.print ? { print: options.print } : {}),
    });
    return {
      status,
      code: printed?.["code"],
      msg: printed?.["msg"],
      details: printed?.["details"],
      methods: methodsOf(zedrouter.received),
      delegations: node.delegations(),
      state: node.state(),
    };
  }
  const refuse = (method: string) => (request: Received) =>
    request.method.endsWith(method) ? refusalOf(request, `no ${method}`) : answer(request);

  it("reports that zedrouter refuses L2", async () => {
    expect(await failing({ answer: refuse("ConnectPodAtL2") })).toMatchObject({
      code: cniCode.refused,
      msg: "RPC RPCServer.ConnectPodAtL2 failed: no ConnectPodAtL2",
      methods: ["ConnectPodAtL2", "DisconnectPod"],
      delegations: [],
      state: [],
    });
  });

  it("reports that zedrouter's answer lacks the interface", async () => {
    const other = (request: Received) =>
      request.method.endsWith("L2") ? replyTo(request, { Interfaces: [{ Name: "net2" }] }) : answer(request);
    expect(await failing({ answer: other })).toMatchObject({
      code: cniCode.protocol,
      methods: ["ConnectPodAtL2", "DisconnectPod"],
      state: [],
    });
  });

  it.each([
    {
      does: "fails",
      dhcp: `[ "$CNI_COMMAND" = DEL ] || { echo '{"code":999,"msg":"no more tries"}'; exit 1; }`,
      code: cniCode.delegate,
    },
    { does: "prints no JSON", dhcp: "echo oops", code: cniCode.delegate },
    { does: "gives no address", dhcp: `echo '{"cniVersion":"1.0.0"}'`, code: cniCode.delegate },
    { does: "prints a result that is none", dhcp: `echo '{"cniVersion":"1.0.0","ips":[1]}'`, code: cniCode.decoding },
  ])("when the DHCP plugin $does", async ({ dhcp, code }) => {
    expect(await failing({ plugins: { dhcp } })).toMatchObject({
      code,
      methods: ["ConnectPodAtL2", "DisconnectPod"],
      // Once before the interface is removed, and once more for a lease that was obtained late.
      delegations: ["dhcp ADD", "dhcp DEL", "dhcp DEL"],
      state: [],
    });
  });

  it("reports that zedrouter refuses L3", async () => {
    expect(await failing({ answer: refuse("ConnectPodAtL3") })).toMatchObject({
      code: cniCode.refused,
      methods: ["ConnectPodAtL2", "ConnectPodAtL3", "DisconnectPod"],
      delegations: ["dhcp ADD", "dhcp DEL", "dhcp DEL"],
      state: [],
    });
  });

  it("reports that the runtime's version cannot express the result", async () => {
    const l2Only = (request: Received) => answer(request, false);
    expect(await failing({ version: "0.2.0", answer: l2Only })).toMatchObject({
      code: cniCode.incompatibleVersion,
      methods: ["ConnectPodAtL2", "DisconnectPod"],
      state: [],
    });
  });

  it("reports that stdout is closed", async () => {
    const print = () => {
      throw Object.assign(new Error("write EPIPE"), { code: "EPIPE", syscall: "write" });
    };
    expect(await failing({ print })).toMatchObject({
      status: 1,
      methods: ["ConnectPodAtL2", "ConnectPodAtL3", "DisconnectPod"],
      state: [],
    });
  });

  it("keeps its record and reports both errors if undoing fails", async () => {
    const outcome = await failing({
      answer: (request) => (request.method.endsWith("L2") ? answer(request) : refusalOf(request, "busy")),
    });
    expect(outcome).toMatchObject({ code: cniCode.refused, state: ["0af:net1.json"] });
    expect(outcome.details).toBe("undoing the ADD failed, run DEL: RPC RPCServer.DisconnectPod failed: busy");
  });
});

describe("DEL in a network instance", () => {
  async function connected(node: Node) {
    const zedrouter = await startZedrouter(node);
    expect((await node.run("ADD")).status).toBe(0);
    return zedrouter;
  }

  it("releases the lease before it removes the interface", async () => {
    await using node = createNode({
      dhcp: `[ "$CNI_COMMAND" != ADD ] || echo '${JSON.stringify(lease)}'`,
    });
    const zedrouter = await connected(node);
    expect(await node.run("DEL")).toEqual({ status: 0, printed: undefined });
    expect(methodsOf(zedrouter.received).slice(2)).toEqual(["DisconnectPod"]);
    expect(zedrouter.received[2]?.params["PodInterface"]).toMatchObject({ MAC: null });
    expect(node.delegations()).toEqual(["dhcp ADD", "dhcp DEL"]);
    expect(node.state()).toEqual([]);
  });

  it("can be repeated", async () => {
    await using node = createNode();
    await connected(node);
    for (let i = 0; i < 3; i++) expect((await node.run("DEL")).status).toBe(0);
    expect(node.state()).toEqual([]);
  });

  it("does not call the DHCP plugin for a virtual machine", async () => {
    await using node = createNode();
    await startZedrouter(node);
    await node.run("ADD", { env: virtualMachine });
    expect((await node.run("DEL", { env: virtualMachine })).status).toBe(0);
    expect(node.delegations()).toEqual([]);
  });

  it("uses the recorded pod name if the runtime passes none", async () => {
    await using node = createNode();
    const zedrouter = await connected(node);
    expect((await node.run("DEL", { env: { CNI_ARGS: "", CNI_NETNS: "" } })).status).toBe(0);
    expect(zedrouter.received.at(-1)?.params["Pod"]).toEqual({
      Name: "app-1-abcde",
      Namespace: "eve-kube-app",
      NetNsPath: node.scratch.path("netns"),
    });
  });

  it.each(["no-pair", "A=1", "K8S_POD_NAME=", ""])("succeeds with CNI_ARGS that fail ADD: %j", async (args) => {
    await using node = createNode();
    const zedrouter = await startZedrouter(node);
    const env = { CNI_ARGS: args };
    expect((await node.run("ADD", { env })).status).toBe(1);
    expect((await node.run("DEL", { env })).status).toBe(0);
    expect([zedrouter.received, node.state()]).toEqual([[], []]);
  });

  it.each([{ eveBridge: { later: 1 } }, { eveBridge: 7 }, { networkInstance: {} }, { prevResult: 7 }])(
    "succeeds with a configuration that fails ADD: %j",
    async (change) => {
      await using node = createNode();
      await startZedrouter(node);
      const own = { ...conf, ...change };
      expect((await node.run("ADD", { conf: own })).status).toBe(1);
      expect((await node.run("DEL", { conf: own })).status).toBe(0);
      expect(node.state()).toEqual([]);
    },
  );

  it("releases the lease and disconnects interfaces that EVE's Go plugin made", async () => {
    await using node = createNode();
    const zedrouter = await startZedrouter(node);
    expect((await node.run("DEL")).status).toBe(0);
    expect([methodsOf(zedrouter.received), node.delegations()]).toEqual([["DisconnectPod"], ["dhcp DEL"]]);
  });

  it.each([{}, { CNI_NETNS: "/nowhere" }, { CNI_NETNS: "" }])(
    "fails with code 11 without zedrouter and without a record, because EVE's Go plugin may have made the interface: %j",
    async (env) => {
      await using node = createNode();
      expect(await node.run("DEL", { env })).toMatchObject({
        status: 1,
        printed: {
          code: cniCode.tryAgain,
          msg: "cannot delete net1: zedrouter is not reachable, and there is no record of the interface",
          details: expect.stringContaining("start zedrouter, then repeat the DEL"),
        },
      });
      const zedrouter = await startZedrouter(node);
      expect((await node.run("DEL", { env })).status).toBe(0);
      expect(methodsOf(zedrouter.received)).toEqual(["DisconnectPod"]);
    },
  );

  it("succeeds without zedrouter after an ADD that failed before its first step or was undone", async () => {
    await using node = createNode();
    expect((await node.run("ADD")).status).toBe(1); // zedrouter is away
    expect((await node.run("DEL")).status).toBe(0);
    const refusing = await node.listen("rpc", (request) =>
      request.method.endsWith("L2") ? refusalOf(request, "no") : answer(request),
    );
    expect((await node.run("ADD")).status).toBe(1);
    await refusing[Symbol.asyncDispose]();
    expect((await node.run("DEL")).status).toBe(0);
  });

  it("without a pod name does not mark the interface as removed", async () => {
    await using node = createNode();
    expect((await node.run("DEL", { env: { CNI_ARGS: "" } })).status).toBe(0);
    expect(await node.run("DEL")).toMatchObject({ status: 1, printed: { code: cniCode.tryAgain } });
  });

  it("without a pod name and a record releases the lease, which has the name of the container", async () => {
    await using node = createNode();
    await startZedrouter(node);
    await node.run("ADD");
    rmSync(node.scratch.path("state"), { recursive: true });
    expect((await node.run("DEL", { env: { CNI_ARGS: "" } })).status).toBe(0);
    expect(node.delegations()).toEqual(["dhcp ADD", "dhcp DEL"]);
  });

  it("can be repeated without zedrouter, until the interface is added again", async () => {
    await using node = createNode();
    const first = await connected(node);
    expect((await node.run("DEL")).status).toBe(0);
    await first[Symbol.asyncDispose]();
    expect((await node.run("DEL", { env: { CNI_NETNS: "" } })).status).toBe(0);
    const second = await connected(node);
    await second[Symbol.asyncDispose]();
    expect(await node.run("DEL")).toMatchObject({ status: 1, printed: { code: cniCode.tryAgain } });
  });

  it("fails with code 11 and keeps its record if zedrouter is not reachable and the interface is connected", async () => {
    await using node = createNode();
    const zedrouter = await startZedrouter(node);
    await node.run("ADD");
    await zedrouter[Symbol.asyncDispose]();
    expect(await node.run("DEL")).toMatchObject({ status: 1, printed: { code: cniCode.tryAgain } });
    expect(node.state()).toEqual(["0af:net1.json"]);
    await startZedrouter(node);
    expect((await node.run("DEL")).status).toBe(0);
    expect(node.state()).toEqual([]);
  });

  it("fails and keeps its record if zedrouter returns an error", async () => {
    await using node = createNode();
    await node.listen("rpc", (request) =>
      request.method.endsWith("DisconnectPod") ? refusalOf(request, "busy") : answer(request),
    );
    await node.run("ADD");
    expect(await node.run("DEL")).toMatchObject({ status: 1, printed: { code: cniCode.refused } });
    expect(node.state()).toEqual(["0af:net1.json"]);
  });

  const noRelease = `[ "$CNI_COMMAND" = ADD ] && echo '${JSON.stringify(lease)}' || exit 1`;

  it("succeeds without releasing the lease if no DHCP daemon is running", async () => {
    await using node = createNode({ dhcp: noRelease });
    await connected(node);
    expect((await node.run("DEL")).status).toBe(0);
    expect(node.state()).toEqual([]);
  });

  it("removes the interface, then fails with code 11, if a running daemon does not release the lease", async () => {
    await using node = createNode({ dhcp: noRelease });
    const zedrouter = await connected(node);
    await startDaemon(node);
    expect(await node.run("DEL")).toMatchObject({
      status: 1,
      printed: { code: cniCode.tryAgain, msg: "the interface is removed, but its DHCP lease could not be released" },
    });
    expect(methodsOf(zedrouter.received)).toContain("DisconnectPod");
    expect(node.state()).toEqual(["0af:net1.json"]);
  });

  it("ignores a failed release if zedrouter answers that the network instance has no DHCP", async () => {
    await using node = createNode({ dhcp: "exit 1" });
    await startZedrouter(node, false);
    await startDaemon(node);
    expect((await node.run("DEL")).status).toBe(0);
  });
});

describe("eth0", () => {
  const eth0 = { CNI_IFNAME: "eth0" };
  const bridge = `[ "$CNI_COMMAND" != ADD ] || echo '{"cniVersion":"1.0.0","interfaces":[{"name":"cni0"}],"ips":[{"address":"10.42.0.5/24"}]}'`;

  it("is made by the bridge plugin, and its result is written in the runtime's version", async () => {
    await using node = createNode({ bridge });
    expect(await node.run("ADD", { conf: clusterConf, env: eth0 })).toEqual({
      status: 0,
      printed: {
        cniVersion: "0.3.1",
        interfaces: [{ name: "cni0" }],
        ips: [{ version: "4", address: "10.42.0.5/24" }],
        dns: {},
      },
    });
    expect(JSON.parse(readFileSync(node.scratch.path("conf-bridge-ADD"), "utf8"))).toMatchObject({
      isDefaultGateway: false,
      ipam: { routes: [{ dst: "10.43.0.0/16" }, { dst: "10.0.0.9/32" }] },
    });
  });

  it("fails before it starts the bridge plugin if nodeIP is missing", async () => {
    await using node = createNode({ bridge });
    const rest = Object.fromEntries(Object.entries(clusterConf).filter(([member]) => member !== "nodeIP"));
    expect(await node.run("ADD", { conf: rest, env: eth0 })).toMatchObject({
      status: 1,
      printed: { code: cniCode.invalidConfig, msg: "nodeIP was not provided" },
    });
    expect([node.delegations(), node.state()]).toEqual([[], []]);
  });

  it("fails with code 11 until zedkube has written the marker", async () => {
    await using node = createNode({ bridge });
    mkdirSync(node.scratch.path("markers"));
    expect(await node.run("ADD", { conf: clusterConf, env: eth0 })).toMatchObject({
      printed: {
        code: cniCode.tryAgain,
        msg: "no routing classification marker yet for pod eve-kube-app/app-1-abcde",
      },
    });
    writeFileSync(node.scratch.path("markers", "eve-kube-app_app-1-abcde"), "native");
    expect((await node.run("ADD", { conf: clusterConf, env: eth0 })).status).toBe(0);
    expect(JSON.parse(readFileSync(node.scratch.path("conf-bridge-ADD"), "utf8"))).toMatchObject({
      isDefaultGateway: true,
    });
  });

  it("is undone if the plugin fails, and the error has the plugin's code", async () => {
    await using node = createNode({
      bridge: `[ "$CNI_COMMAND" != ADD ] || { echo '{"code":7,"msg":"bad subnet"}'; exit 1; }`,
    });
    expect(await node.run("ADD", { conf: clusterConf, env: eth0 })).toMatchObject({
      printed: { code: 7, msg: "bridge plugin failed to ADD eth0: bad subnet" },
    });
    expect([node.delegations(), node.state()]).toEqual([["bridge ADD", "bridge DEL"], []]);
  });

  const confAt = (node: Node, command: string) =>
    JSON.parse(readFileSync(node.scratch.path(`conf-bridge-${command}`), "utf8")) as JsonObject;

  it.each(["controller", "native"])(
    "is checked and deleted with the configuration of its ADD, including the routes: marker %s",
    async (marker) => {
      await using node = createNode({ bridge });
      mkdirSync(node.scratch.path("markers"));
      const file = node.scratch.path("markers", "eve-kube-app_app-1-abcde");
      writeFileSync(file, marker);
      const own = { ...clusterConf, cniVersion: "1.0.0" };
      const { printed: prevResult } = await node.run("ADD", { conf: own, env: eth0 });
      rmSync(file); // zedkube forgets the pod first
      const check = { ...own, ...(prevResult && { prevResult }) };
      await node.run("CHECK", { conf: check, env: eth0 });
      expect(confAt(node, "CHECK")).toEqual({ ...confAt(node, "ADD"), prevResult });
      expect((await node.run("DEL", { conf: own, env: eth0 })).status).toBe(0);
      expect(confAt(node, "DEL")).toEqual(confAt(node, "ADD"));
    },
  );

  it("is deleted with the routes if EVE's Go plugin made it", async () => {
    await using node = createNode({ bridge });
    expect((await node.run("DEL", { conf: clusterConf, env: eth0 })).status).toBe(0);
    expect(confAt(node, "DEL")).toMatchObject({
      isDefaultGateway: false,
      ipam: { routes: [{ dst: "10.43.0.0/16" }, { dst: "10.0.0.9/32" }] },
    });
  });

  it("is deleted without ipam, nodeIP and marker, which come from the record", async () => {
    await using node = createNode({ bridge });
    await node.run("ADD", { conf: clusterConf, env: eth0 });
    mkdirSync(node.scratch.path("markers"));
    expect((await node.run("DEL", { conf: { cniVersion: "0.3.1", name: "cbr0" }, env: eth0 })).status).toBe(0);
    expect(confAt(node, "DEL")).toEqual(confAt(node, "ADD"));
    expect((await node.run("DEL", { conf: { cniVersion: "0.3.1", name: "cbr0" }, env: eth0 })).status).toBe(0);
    expect(node.state()).toEqual([]);
  });
});

describe("CHECK", () => {
  it.each([
    { does: "has no prevResult", change: {}, code: cniCode.invalidConfig },
    { does: "has an invalid prevResult", change: { prevResult: 1 }, code: cniCode.decoding },
    {
      does: "has a version that does not know CHECK",
      change: { cniVersion: "0.3.1" },
      code: cniCode.incompatibleVersion,
    },
  ])("fails with code $code when the configuration $does", async ({ change, code }) => {
    await using node = createNode();
    expect(await node.run("CHECK", { conf: { ...conf, ...change } })).toMatchObject({ status: 1, printed: { code } });
  });

  it("fails with code 103 if the namespace does not exist", async () => {
    await using node = createNode();
    const own = { ...conf, prevResult: { cniVersion: "1.1.0" } };
    expect(await node.run("CHECK", { conf: own, env: { CNI_NETNS: "/nowhere" } })).toMatchObject({
      printed: { code: cniCode.mismatch },
    });
  });
});

describe("GC", () => {
  const gcConf = (valid: unknown) => ({ ...conf, "cni.dev/valid-attachments": valid }) as JsonObject;
  const other = { CNI_CONTAINERID: "0b0" };

  it("removes the interfaces of this network that the runtime does not list, with the environment of their ADD", async () => {
    await using node = createNode();
    const zedrouter = await startZedrouter(node);
    await node.run("ADD");
    await node.run("ADD", { env: other });
    await node.run("ADD", { env: { CNI_CONTAINERID: "0c0" }, conf: { ...conf, name: "other" } });
    const env = { CNI_CONTAINERID: "", CNI_NETNS: "", CNI_IFNAME: "", CNI_ARGS: "" };
    expect(await node.run("GC", { conf: gcConf([{ containerID: "0b0", ifname: "net1" }]), env })).toEqual({
      status: 0,
      printed: undefined,
    });
    expect(node.state()).toEqual(["0b0:net1.json", "0c0:net1.json"]);
    expect(zedrouter.received.at(-1)?.params).toMatchObject({
      Pod: { Name: "app-1-abcde" },
      PodInterface: { Name: "net1" },
    });
    expect(node.delegations().slice(-2)).toEqual(["dhcp DEL", "dhcp GC"]);
  });

  it.each([{}, 1, [1], [{ containerID: "a" }]])("removes nothing if the list is %j", async (valid) => {
    await using node = createNode();
    await startZedrouter(node);
    await node.run("ADD");
    expect(await node.run("GC", { conf: gcConf(valid) })).toMatchObject({ printed: { code: cniCode.invalidConfig } });
    expect(node.state()).toEqual(["0af:net1.json"]);
  });

  it.each([undefined, null, []])("removes all interfaces of the network if the list is %j", async (valid) => {
    await using node = createNode();
    await startZedrouter(node);
    await node.run("ADD");
    expect((await node.run("GC", { conf: gcConf(valid) })).status).toBe(0);
    expect(node.state()).toEqual([]);
  });

  it("continues after a failure and reports it", async () => {
    await using node = createNode();
    await node.listen("rpc", (request) => {
      const pod = request.params["Pod"] as { Name: string };
      const refused = request.method.endsWith("DisconnectPod") && pod.Name === "app-1-abcde";
      return refused ? refusalOf(request, "busy") : answer(request);
    });
    await node.run("ADD");
    await node.run("ADD", { env: { ...other, CNI_ARGS: "K8S_POD_NAME=app-2-abcde" } });
    expect(await node.run("GC", { conf: gcConf([]) })).toMatchObject({
      status: 1,
      printed: { code: cniCode.refused, msg: "1 of 4 steps failed" },
    });
    expect(node.state()).toEqual(["0af:net1.json"]);
  });

  it.each([
    { when: "there are no records", valid: [], says: "there is no record of an interface" },
    { when: "one has no record", valid: [{ containerID: "0b0", ifname: "net1" }], says: "1 of 1 have no record" },
  ])("says that it could not look if $when and zedrouter is not reachable", async ({ valid, says }) => {
    await using node = createNode();
    const gc = await node.run("GC", { conf: gcConf(valid) });
    expect(gc).toMatchObject({ status: 1, printed: { code: cniCode.tryAgain } });
    expect(gc.printed?.["details"]).toContain(`could not look for interfaces of network ni: ${says}`);
    await startZedrouter(node);
    expect((await node.run("GC", { conf: gcConf(valid) })).status).toBe(0);
  });

  it("removes what killed calls left", async () => {
    await using node = createNode();
    await startZedrouter(node);
    mkdirSync(node.scratch.path("state", "locks", "0af:net1::1-1-1"), { recursive: true });
    mkdirSync(node.scratch.path("state", "attachments"));
    writeFileSync(node.scratch.path("state", "attachments", "0af:net1.json.new"), "{");
    expect((await node.run("GC", { conf: gcConf([]) })).status).toBe(0);
    expect(node.state()).toEqual([]);
  });
});

describe("a record file that", () => {
  it.each([
    { how: "is empty", text: "" },
    { how: "is truncated", text: '{"containerId":"0af","ifNa' },
    { how: "has zeros, as after a power loss", text: "\0".repeat(64) },
    { how: "is of a later version", text: '{"version":9,"containerId":{"id":"0af"},"step":"renewing"}' },
    { how: "is a list", text: "[1,null]" },
  ])("$how costs nothing: DEL removes the interface, and the next ADD works", async ({ text }) => {
    await using node = createNode();
    const zedrouter = await startZedrouter(node);
    await node.run("ADD");
    const file = node.scratch.path("state", "attachments", "0af:net1.json");
    writeFileSync(file, text);
    expect((await node.run("DEL")).status).toBe(0);
    expect(methodsOf(zedrouter.received).at(-1)).toBe("DisconnectPod");
    expect([node.delegations(), node.state()]).toEqual([["dhcp ADD", "dhcp DEL"], []]);
    writeFileSync(file, text);
    expect((await node.run("ADD")).status).toBe(0);
    expect((await node.run("DEL")).status).toBe(0);
    expect(node.state()).toEqual([]);
  });
});

describe("STATUS", () => {
  it("succeeds if zedrouter and the DHCP daemon listen", async () => {
    await using node = createNode();
    await startZedrouter(node);
    await startDaemon(node);
    expect(await node.run("STATUS")).toEqual({ status: 0, printed: undefined });
  });

  it("fails with code 50 without zedrouter, 51 without the DHCP daemon", async () => {
    await using node = createNode();
    expect(await node.run("STATUS")).toMatchObject({
      printed: { code: cniCode.notAvailable, msg: "zedrouter is not reachable" },
    });
    await startZedrouter(node);
    expect(await node.run("STATUS")).toMatchObject({
      printed: { code: cniCode.limited, msg: "the DHCP daemon is not running" },
    });
  });

  it.each([
    { does: "is ready", bridge: "true", printed: undefined },
    { does: "does not know STATUS", bridge: `echo '{"code":4,"msg":"unknown"}'; exit 1`, printed: undefined },
    { does: "is not available", bridge: `echo '{"code":50,"msg":"no"}'; exit 1`, printed: { code: 50 } },
    { does: "fails otherwise", bridge: "exit 1", printed: { code: 50, msg: "bridge plugin is not ready" } },
  ])("of the cluster's network asks the bridge plugin, which $does", async ({ bridge, printed }) => {
    await using node = createNode({ bridge });
    const outcome = await node.run("STATUS", { conf: { ...clusterConf, cniVersion: "1.1.0" } });
    if (printed === undefined) expect(outcome).toEqual({ status: 0, printed });
    else expect(outcome).toMatchObject({ status: 1, printed });
  });
});

describe("VERSION and errors", () => {
  it.each([
    ['{"cniVersion":"0.3.1"}', "0.3.1"],
    ['{"cniVersion":"7.0.0"}', "1.1.0"],
    ["", "1.1.0"],
    ['{"cniVers', "1.1.0"],
  ])("VERSION answers %j in %s", async (stdin, cniVersion) => {
    await using node = createNode();
    expect(await node.run("VERSION", { stdin })).toEqual({
      status: 0,
      printed: { cniVersion, supportedVersions: ["0.1.0", "0.2.0", "0.3.0", "0.3.1", "0.4.0", "1.0.0", "1.1.0"] },
    });
  });

  it("an error has the version of the configuration", async () => {
    await using node = createNode();
    const { printed } = await node.run("ADD", { stdin: '{"cniVersion":"0.4.0"}' });
    expect(printed).toEqual({ cniVersion: "0.4.0", code: cniCode.invalidConfig, msg: "missing network name" });
  });

  it("the log contains neither the environment nor the configuration", async () => {
    await using node = createNode();
    await startZedrouter(node);
    await node.run("ADD", { conf: { ...conf, token: "secret-1" }, env: { PASSWORD: "secret-2" } });
    const log = readFileSync(node.scratch.path("log"), "utf8");
    expect(log).toContain('"message":"done"');
    expect(log).not.toMatch(/secret-\d/);
  });

  it.each(["/proc/nowhere/log", "/dev/full"])(
    "a log at %s that cannot be written does not change the result",
    async (logFile) => {
      await using node = createNode();
      await startZedrouter(node);
      const settings = JSON.parse(readFileSync(node.scratch.path("settings.json"), "utf8")) as JsonObject;
      writeFileSync(node.scratch.path("settings.json"), JSON.stringify({ ...settings, logFile }));
      expect((await node.run("ADD")).status).toBe(0);
      expect((await node.run("DEL")).status).toBe(0);
    },
  );

  it("ADD fails with code 5 before its first step if the state cannot be written, and DEL succeeds", async () => {
    await using node = createNode();
    const zedrouter = await startZedrouter(node);
    const settings = JSON.parse(readFileSync(node.scratch.path("settings.json"), "utf8")) as JsonObject;
    writeFileSync(node.scratch.path("settings.json"), JSON.stringify({ ...settings, stateDir: "/proc/nowhere" }));
    expect(await node.run("ADD")).toMatchObject({ printed: { code: cniCode.io } });
    expect(zedrouter.received).toEqual([]);
    expect((await node.run("DEL")).status).toBe(0);
  });
});
