// SPDX-License-Identifier: Apache-2.0
/** measureOvsdb measures the OVSDB client with a real ovsdb-server, in turn with `ovsdb-client dump`. */
import { insertRow, isRow, mutate, mutateRows, OvsdbClient, updateRows, type WireOperation } from "@switchyard/ovsdb";
import { bridge, databaseName, iface, openVswitch, port } from "@switchyard/ovsdb/vswitch";
import { startOpenVswitch, type OpenVswitch } from "@switchyard/testing";
import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { BenchError } from "../harness/run-control.ts";
import { readMachine } from "../harness/machine.ts";
import { startProgress } from "../harness/progress.ts";
import { ovsdbGoals, type OvsdbReport, type OvsdbTimes } from "./ovsdb-report.ts";
import type { OvsdbOptions } from "./ovsdb-options.ts";

const bridgesPerTransaction = 50;
const tables = [openVswitch, bridge, port, iface];

/** Rejects with BenchError if the measurement fails. */
export async function measureOvsdb({ bridges, rounds, changes }: OvsdbOptions): Promise<OvsdbReport> {
  const about = { bench: "ovsdb", date: new Date().toISOString(), machine: readMachine() } as const;
  using progress = startProgress();
  progress.at("starting ovsdb-server");
  await using ovs = await startOpenVswitch();
  progress.at(`adding ${bridges} bridges`);
  await addBridges(ovs, bridges);

  const [clientMs, dumpMs]: [number[], number[]] = [[], []];
  const before = process.memoryUsage().rss;
  let cacheMb = 0;
  for (let round = 0; round < rounds; round++) {
    progress.at(`round ${round + 1} of ${rounds}`);
    clientMs.push(await timeClient(ovs, bridges));
    if (round === 0) cacheMb = (process.memoryUsage().rss - before) / 1e6;
    dumpMs.push(await timeDump(ovs));
  }
  progress.at(`${changes} changes`);
  const times: OvsdbTimes = { clientMs, dumpMs, changeMs: await timeChanges(ovs, changes) };
  const versions = { "ovsdb-server": (await ovs.vsctl("--version")).split("\n")[0]?.split(" ").at(-1) ?? "" };
  return { ...about, versions, options: { bridges, rounds, changes }, ...times, cacheMb, goals: ovsdbGoals(times) };
}

function createClient(ovs: OpenVswitch): OvsdbClient {
  return new OvsdbClient({ endpoints: [ovs.endpoint], database: databaseName, monitor: tables });
}

async function addBridges(ovs: OpenVswitch, count: number): Promise<void> {
  await using client = createClient(ovs);
  await client.untilConnected();
  for (let first = 0; first < count; first += bridgesPerTransaction) {
    const numbers = Array.from({ length: Math.min(bridgesPerTransaction, count - first) }, (_, at) => first + at);
    await client.transact(numbers.flatMap(bridgeOperations));
  }
}

/** A bridge with one port and as many external ids as the config daemon writes. */
function bridgeOperations(number: number): readonly WireOperation[] {
  const name = `br${number}`;
  const external_ids = [["switchyard.io/owner", "config-daemon"]] as const;
  return [
    insertRow(iface, { name, type: "internal", external_ids }, `interface${number}`),
    insertRow(port, { name, interfaces: [{ namedUuid: `interface${number}` }], external_ids }, `port${number}`),
    insertRow(bridge, { name, ports: [{ namedUuid: `port${number}` }], external_ids }, `bridge${number}`),
    mutateRows(openVswitch, [], [mutate(openVswitch, "bridges", "insert", [{ namedUuid: `bridge${number}` }])]),
  ];
}

async function timeClient(ovs: OpenVswitch, bridges: number): Promise<number> {
  const startMs = performance.now();
  await using client = createClient(ovs);
  await client.untilConnected();
  const endMs = performance.now();
  const { size } = client.cache.rows(bridge);
  if (size !== bridges) throw new BenchError("wrong", `the cache has ${size} bridges, expected ${bridges}`);
  return endMs - startMs;
}

async function timeDump({ programs, endpoint }: OpenVswitch): Promise<number> {
  const startMs = performance.now();
  const args = ["dump", endpoint, databaseName];
  await promisify(execFile)(join(programs.bin, "ovsdb-client"), args, { env: programs.env, maxBuffer: 1 << 30 });
  return performance.now() - startMs;
}

/** Each change is made by one client and seen by another. */
async function timeChanges(ovs: OpenVswitch, count: number): Promise<readonly number[]> {
  await using writer = createClient(ovs);
  await using reader = createClient(ovs);
  await Promise.all([writer.untilConnected(), reader.untilConnected()]);
  const [uuid = ""] = writer.cache.rows(bridge).keys();
  const times: number[] = [];
  for (let number = 0; number < count; number++) {
    const arrived = Promise.withResolvers<number>();
    const unsubscribe = reader.cache.subscribe(() => {
      arrived.resolve(performance.now());
    });
    const startMs = performance.now();
    await writer.transact([updateRows(bridge, [isRow(uuid)], { other_config: [["change", `${number}`]] })]);
    times.push((await arrived.promise) - startMs);
    unsubscribe();
  }
  return times;
}
