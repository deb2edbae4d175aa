// SPDX-License-Identifier: Apache-2.0
/**
 * A program that plays the device plugin of afxdp-plugins-for-kubernetes, whose image is in no registry that tests may
 * use. It behaves as redhat-et/afxdp-plugins-for-kubernetes at b4a5035 did when it was run on 2026-11-22
 * (docs/upstream/eve-and-afxdp.md b1). It ends with code 1 on a configuration that it refuses, and with 3 on a kernel
 * whose release it cannot read. It announces each pool once. It keeps running if it has no pool or if the kubelet is
 * absent, and never registers again. It allocates nothing.
 * Usage: `node fake-afxdp-dp.ts PROCESS-NAME CONFIG-FILE KUBELET-DIRECTORY INTERFACES-DIRECTORY [KERNEL-RELEASE]`.
 */
import {
  callGrpc,
  devicePluginMethods,
  devicePluginVersion,
  registerMethod,
  serveGrpc,
  type Empty,
  type PluginDevice,
  type sendUnaryData,
  type ServerWritableStream,
} from "@switchyard/kubelet";
import { pluginRefusals } from "@switchyard/render/testing";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { kernelNumber } from "./kernel-number.ts";

const [name = "", configFile = "", kubelet = "", interfaces = "", release = "6.8.0-45-generic"] = process.argv.slice(2);
process.title = name;

const config: unknown = JSON.parse(await readFile(configFile, "utf8"));
const refusals = pluginRefusals(config);
if (refusals.length > 0) end(1, `Error getting device plugin config: Pools: (0: (${refusals.join("; ")}).).`);
if (!Number.isFinite(kernelNumber(release))) {
  end(3, `Error checking host: error converting actual kernel version to int: strconv.ParseInt: parsing "${release}"`);
}
const servers: AsyncDisposable[] = [];
const pools = await poolsOnHost();
say(`Found ${pools.length} poolConfigs`);
for (const pool of pools) {
  try {
    servers.push(await serve(pool));
  } catch (error) {
    say(`Error initializing pool ${pool.name}: error registering with Kubelet: ${String(error)}`);
  }
}
process.on("SIGTERM", () => {
  void Promise.all(servers.map((server) => server[Symbol.asyncDispose]())).then(() => {
    process.exit(0);
  });
});
setInterval(() => undefined, 60_000); // it keeps running, whatever it serves

interface Pool {
  readonly name: string;
  readonly devices: readonly string[];
}

/** A device that is not on the host, or whose name is prohibited, is left out, and so is a pool without devices. */
async function poolsOnHost(): Promise<readonly Pool[]> {
  const present = (await readdir(interfaces)).filter((each) => !/^(eno|eth|lo|docker|flannel|cni)/.test(each));
  const taken = new Set<string>();
  const { pools: listed } = config as { readonly pools: readonly { name: string; devices: { name: string }[] }[] };
  return listed.flatMap((pool) => {
    const devices = pool.devices.map((device) => device.name).filter((one) => present.includes(one) && !taken.has(one));
    for (const one of devices) taken.add(one);
    return devices.length === 0 ? [] : [{ name: pool.name, devices }];
  });
}

async function serve({ name: poolName, devices }: Pool): Promise<AsyncDisposable> {
  const directory = join(kubelet, "device-plugins");
  const endpoint = `afxdp-${poolName}.sock`;
  const streams = new Set<ServerWritableStream<Empty, readonly PluginDevice[]>>();
  const server = await serveGrpc({
    path: join(directory, endpoint),
    methods: devicePluginMethods,
    handlers: {
      getDevicePluginOptions(_call: unknown, respond: sendUnaryData<{ readonly hasPreferences: boolean }>) {
        respond(null, { hasPreferences: false });
      },
      listAndWatch(stream: ServerWritableStream<Empty, readonly PluginDevice[]>) {
        streams.add(stream);
        stream.write(devices.map((id) => ({ id, isHealthy: true })));
      },
      getPreferredAllocation: refuse,
      allocate: refuse,
    },
    end() {
      for (const stream of streams) stream.end();
    },
  });
  const registration = { version: devicePluginVersion, endpoint, resourceName: `afxdp/${poolName}` };
  const { signal } = new AbortController();
  await callGrpc(registerMethod, registration, { path: join(directory, "kubelet.sock"), timeoutMs: 5_000, signal });
  return server;
}

function refuse(_call: unknown, respond: sendUnaryData<never>): void {
  respond(new Error("not part of this program"), null);
}

function say(words: string): void {
  process.stdout.write(`${words}\n`);
}

function end(code: number, words: string): never {
  say(words);
  process.exit(code);
}
