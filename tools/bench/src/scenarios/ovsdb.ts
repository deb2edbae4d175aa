// SPDX-License-Identifier: Apache-2.0
/** The OVSDB client with a real ovsdb-server, in turn with `ovsdb-client dump`. */
import { insertRow, isRow, mutate, mutateRows, OvsdbClient, updateRows, type WireOperation } from "@switchyard/ovsdb";
import { bridge, databaseName, iface, openVswitch, port } from "@switchyard/ovsdb/vswitch";
import { outputOf, renderTable, startOpenVswitch, type OpenVswitch } from "@switchyard/testing";
import { join } from "node:path";
import { count } from "../harness/options.ts";
import { atMost, quantile, showMb, showMs } from "../harness/report.ts";
import { BenchError } from "../harness/run.ts";
import { defineScenario, type CommonFigures } from "../harness/scenario.ts";

interface OvsdbFigures extends CommonFigures {
  /** Milliseconds from the start of the client until its cache has all rows. */
  readonly clientMs: readonly number[];
  /** Milliseconds from the start of `ovsdb-client dump` to its end. */
  readonly dumpMs: readonly number[];
  /** Milliseconds from a transaction of one client to the event in another. */
  readonly changeMs: readonly number[];
  /** Growth of this process's RSS by the first client with all rows. */
  readonly cacheMb: number;
}

export const ovsdb = defineScenario({
  name: "ovsdb",
  summary: "the OVSDB client with a real ovsdb-server and 1,000 bridges",
  baseline: "`ovsdb-client dump`, started in turn with it",
  options: {
    bridges: count("bridges in the database, each with one port", { standard: 1000, quick: 20, range: [1, 100_000] }),
    rounds: count("how often each program reads the database", { standard: 10, quick: 2, range: [1, 1_000] }),
    changes: count("number of changes that are timed", { standard: 100, quick: 5, range: [2, 100_000] }),
  },

  async measure({ bridges, rounds, changes }, { progress, use }): Promise<OvsdbFigures> {
    progress.at("starting ovsdb-server");
    const ovs = use(await startOpenVswitch());
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
    const changeMs = await timeChanges(ovs, changes);
    const version = (await ovs.vsctl("--version")).split("\n")[0]?.split(" ").at(-1) ?? "";
    return { versions: { "ovsdb-server": version }, clientMs, dumpMs, changeMs, cacheMb };
  },

  /** Other work on the machine only adds to a time, so the best times are compared, and the median of the changes. */
  goals({ clientMs, dumpMs, changeMs }) {
    const ratio = Math.min(...clientMs) / Math.min(...dumpMs);
    return [
      atMost("all rows in the cache beside ovsdb-client dump", ratio, 1.5, "x"),
      atMost("arrival of a change, median", quantile(changeMs, 0.5), 10, "ms"),
    ];
  },

  render({ clientMs, dumpMs, changeMs, cacheMb }, { bridges, rounds, changes }) {
    const row = (what: string, times: readonly number[]) => [
      what,
      ...[0, 0.5, 0.99].map((share) => showMs(quantile(times, share))),
    ];
    return [
      `OVSDB client, ${bridges} bridges, ${rounds} rounds, ${changes} changes`,
      "",
      renderTable(
        ["what", "best", "median", "99 %"],
        [
          row("client: all rows in the cache", clientMs),
          row("ovsdb-client dump", dumpMs),
          row("client: arrival of a change", changeMs),
        ],
      ),
      "",
      `Memory of the cache: ${showMb(cacheMb)}`,
    ];
  },
});

const bridgesPerTransaction = 50;

function createClient(ovs: OpenVswitch): OvsdbClient {
  const monitor = [openVswitch, bridge, port, iface];
  return new OvsdbClient({ endpoints: [ovs.endpoint], database: databaseName, monitor });
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
  await outputOf(join(programs.bin, "ovsdb-client"), ["dump", endpoint, databaseName], { env: programs.env });
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
