// SPDX-License-Identifier: Apache-2.0
/** Commands of `switchyard` that read the files of a large cluster, or a live one, each as a process of its own. */
import { customResources, nodes as nodeType, pods } from "@switchyard/api";
import { objectPath, type ResourceType } from "@switchyard/kube";
import { mapConcurrently } from "@switchyard/service";
import { fleetObjects, renderTable, runProgram, type AuditTail } from "@switchyard/testing";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { stringify } from "yaml";
import { startBenchCluster } from "../cluster/bench-cluster.ts";
import type { PlainClient } from "../cluster/plain-client.ts";
import { count } from "../harness/options.ts";
import { atMost, showMb, showSeconds, type Goal } from "../harness/report.ts";
import { BenchError, forEachIndex } from "../harness/run.ts";
import { defineScenario, type CommonFigures } from "../harness/scenario.ts";
import { bundleProgram } from "../harness/service.ts";

/** One command with one form of the files, or a baseline. */
export interface CommandResult {
  readonly title: string;
  /** Of each round. */
  readonly seconds: readonly number[];
  /** The peak RSS of each round; empty if no process was started. */
  readonly peakMb: readonly number[];
  /** Bytes that it printed. */
  readonly bytes: number;
  /** Absent for baselines and commands without a goal. "live" is compared with the listing alone. */
  readonly goal?: "diagnosis" | "page" | "live";
}

interface DiagnosisFigures extends CommonFigures {
  readonly commands: readonly CommandResult[];
}

/** The plain client that only lists, to which "live" compares. */
export const listingTitle = "listing alone, live";

const limits = { seconds: 3, secondsBesideListing: 2, peakMb: 250, pageMb: 1 };

export const diagnosis = defineScenario({
  name: "diagnosis",
  summary: "switchyard doctor, plan and vfs with files of 1,000 nodes, and doctor with a real API server",
  baseline:
    "a program that only parses the file with JSON.parse, and a plain client that lists what doctor has listed, in turn with them",
  options: {
    nodes: count("nodes in the files", { standard: 1000, quick: 10, range: [1, 100_000] }),
    vfs: count("VFs of each of the two PFs of a node", { standard: 64, quick: 4, range: [1, 128] }),
    rounds: count("how often each command runs", { standard: 5, quick: 1, range: [1, 1_000] }),
  },

  async measure({ nodes, vfs, rounds }, run): Promise<DiagnosisFigures> {
    const { progress, signal } = run;
    progress.at("bundling the command line");
    const main = await bundleProgram("apps/cli/src/main.ts");
    const objects = fleetObjects({ nodes, vfsPerPf: vfs });
    const namespaces = objects.items.flatMap(({ metadata: { namespace } }) => namespace ?? []);
    const cluster = await startBenchCluster(run, { namespaces });
    progress.at(`writing the objects of ${nodes} nodes`);
    const [json, yaml] = [join(cluster.directory, "cluster.json"), join(cluster.directory, "cluster.yaml")];
    await writeFile(json, JSON.stringify(objects));
    await writeFile(yaml, stringify(objects, { aliasDuplicateObjects: false })); // as kubectl writes it
    const { items } = objects;
    const creating = { what: "creating the objects", count: items.length, limit: connections };
    await forEachIndex(run, creating, async (index) => {
      const { kind = "", metadata = { name: "" }, spec, status } = items[index] ?? {};
      const type = types.get(kind);
      if (type === undefined) throw new BenchError("ended", `no kind ${kind}`);
      await cluster.admin.create(type, { metadata, spec });
      if (status !== undefined) await cluster.admin.merge(objectPath(type, metadata, "status"), { status });
    });
    const user = await cluster.user("switchyard");
    const kubeconfig = await cluster.kubeconfigOf(user);
    const { client: plain } = await cluster.plainUser(connections);
    const results = new Map<string, CommandResult>();
    for (let round = 1; round <= rounds; round++) {
      for (const { title, goal, args } of commandsFor(main, { json, yaml, kubeconfig })) {
        signal.throwIfAborted();
        progress.at(`round ${round} of ${rounds}: ${title}`);
        const isListing = args === undefined;
        if (!isListing) await user.requests.begin();
        const { seconds, peakMb, bytes } = isListing ? await listAgain(user.requests, plain) : await time(title, args);
        const before = results.get(title) ?? { seconds: [], peakMb: [] };
        const all = { seconds: [...before.seconds, seconds], peakMb: [...before.peakMb, ...peakMb] };
        results.set(title, { title, ...all, bytes, ...(goal !== undefined && { goal }) });
      }
    }
    return { versions: cluster.versions, commands: [...results.values()] };
  },

  goals: ({ commands }) => commands.flatMap((command) => goalsOf(command, commands)),

  render: ({ commands }, { nodes, vfs, rounds }) => [
    `Diagnosis, ${nodes} nodes, two PFs with ${vfs} VFs each, ${rounds} rounds`,
    "",
    renderTable(
      ["command", "best", "worst", "peak RSS", "output"],
      commands.map(({ title, seconds, peakMb, bytes }) => [
        ...[title, showSeconds(Math.min(...seconds)), showSeconds(Math.max(...seconds))],
        ...[peakMb.length === 0 ? "-" : showMb(Math.min(...peakMb)), `${(bytes / 1e6).toFixed(2)} MB`],
      ]),
    ),
  ],
});

/** Other work on the machine only adds to a time, so the best round counts. */
function goalsOf(command: CommandResult, commands: readonly CommandResult[]): readonly Goal[] {
  const { title, seconds, peakMb, bytes, goal } = command;
  if (goal === undefined) return [];
  if (goal === "live") {
    const listing = commands.find((one) => one.title === listingTitle);
    const more = listing && Math.min(...seconds) - Math.min(...listing.seconds);
    return [atMost(`${title}, beside the listing`, more, limits.secondsBesideListing, "s")];
  }
  return [
    atMost(title, Math.min(...seconds), limits.seconds, "s"),
    atMost(`${title}, peak RSS`, Math.min(...peakMb), limits.peakMb, "MB"),
    ...(goal === "page" ? [atMost(`${title}, size of the page`, bytes / 1e6, limits.pageMb, "MB")] : []),
  ];
}

interface Command extends Pick<CommandResult, "title" | "goal"> {
  /** Arguments of Node.js; absent for the listing alone. */
  readonly args?: readonly string[];
}

function commandsFor(
  main: string,
  { json, yaml, kubeconfig }: { readonly json: string; readonly yaml: string; readonly kubeconfig: string },
): readonly Command[] {
  const parse = `JSON.parse(require("node:fs").readFileSync(${JSON.stringify(json)}, "utf8"))`;
  return [
    { title: "JSON.parse alone", args: ["-e", parse] },
    ...Object.entries({ JSON: json, YAML: yaml }).flatMap(([form, file]): readonly Command[] => [
      { title: `doctor, ${form}`, args: [main, "doctor", "-f", file], goal: "diagnosis" },
      ...["doctor", "plan", "vfs"].map((verb): Command => {
        return { title: `${verb} -o html, ${form}`, args: [main, verb, "-f", file, "-o", "html"], goal: "page" };
      }),
      { title: `vfs, ${form}`, args: [main, "vfs", "-f", file] },
    ]),
    { title: "doctor, live", args: [main, "doctor", "--kubeconfig", kubeconfig], goal: "live" },
    { title: listingTitle },
  ];
}

interface Measured {
  readonly seconds: number;
  readonly peakMb: readonly number[];
  readonly bytes: number;
}

/** Prints the peak RSS in kB when the process ends, as the last line of stderr. */
const meter = `data:text/javascript,${encodeURIComponent(
  'import { writeSync } from "node:fs"; process.on("exit", () => writeSync(2, `\\npeak ${process.resourceUsage().maxRSS}\\n`));',
)}`;

/** The exit code is 1 if there are findings. */
async function time(title: string, args: readonly string[]): Promise<Measured> {
  const beginMs = performance.now();
  const { status, stdout, stderr } = await runProgram(process.execPath, ["--import", meter, ...args]);
  const seconds = (performance.now() - beginMs) / 1000;
  const [, peakKb] = /\npeak (\d+)\n$/.exec(stderr) ?? [];
  if ((status !== "0" && status !== "1") || peakKb === undefined)
    throw new BenchError("ended", `${title} ended with ${status}: ${stderr.slice(-2_000)}`);
  return { seconds, peakMb: [Number(peakKb) / 1000], bytes: Buffer.byteLength(stdout) };
}

const connections = 16;

/** Lists as the command did that was measured before: the same pages, of all kinds at the same time. */
async function listAgain(requests: AuditTail, plain: PlainClient): Promise<Measured> {
  const paths = (await requests.read())
    .filter(({ verb, responseStatus }) => verb === "list" && responseStatus?.code === 200)
    .map(({ requestURI }) => requestURI);
  if (paths.length === 0) throw new BenchError("ended", "the command has listed nothing");
  const ofKind = [...Map.groupBy(paths, (path) => path.split("?", 1)[0]).values()];
  const beginMs = performance.now();
  await mapConcurrently(ofKind, ofKind.length, async (pages) => {
    for (const path of pages) await plain.request({ method: "GET", path });
  });
  return { seconds: (performance.now() - beginMs) / 1000, peakMb: [], bytes: 0 };
}

const types: ReadonlyMap<string, ResourceType> = new Map(
  [...customResources, nodeType, pods].map((type) => [type.kind, type]),
);
