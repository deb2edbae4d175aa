// SPDX-License-Identifier: Apache-2.0
/** measureDiagnosis measures commands that read the files of a large cluster, or a live one, each as a process of its own. */
import { fleetObjects } from "@switchyard/testing";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { stringify } from "yaml";
import { BenchError, startRun } from "../harness/run-control.ts";
import { bundleProgram } from "../harness/measured-process.ts";
import { readMachine } from "../harness/machine.ts";
import { startProgress } from "../harness/progress.ts";
import { diagnosisGoals, listingTitle, type CommandResult, type DiagnosisReport } from "./diagnosis-report.ts";
import type { DiagnosisOptions } from "./diagnosis-options.ts";
import { startLiveCluster, type LiveCluster } from "./live-cluster.ts";

/** Prints the peak RSS in kB when the process ends, as the last line of stderr. */
const meter = `data:text/javascript,${encodeURIComponent(
  'import { writeSync } from "node:fs"; process.on("exit", () => writeSync(2, `\\npeak ${process.resourceUsage().maxRSS}\\n`));',
)}`;

interface Command extends Pick<CommandResult, "title" | "goal"> {
  readonly measure: () => Promise<Measured>;
}

interface Measured {
  readonly seconds: number;
  /** The peak RSS; empty if no process was started. */
  readonly peakMb: readonly number[];
  /** Bytes that it printed. */
  readonly bytes: number;
}

/** Rejects with BenchError if a command fails. */
export async function measureDiagnosis({ nodes, vfs, rounds }: DiagnosisOptions): Promise<DiagnosisReport> {
  const about = { bench: "diagnosis", date: new Date().toISOString(), machine: readMachine() } as const;
  using progress = startProgress();
  using control = startRun();
  await using parts = new AsyncDisposableStack();
  const directory = await mkdtemp(join(tmpdir(), "bench-diagnosis-"));
  parts.defer(() => rm(directory, { recursive: true, force: true }));
  progress.at("bundling the command line");
  const main = await bundleProgram("apps/cli/src/main.ts");
  progress.at(`writing the objects of ${nodes} nodes`);
  const [json, yaml] = [join(directory, "cluster.json"), join(directory, "cluster.yaml")];
  const objects = fleetObjects({ nodes, vfsPerPf: vfs });
  await writeFile(json, JSON.stringify(objects));
  await writeFile(yaml, stringify(objects, { aliasDuplicateObjects: false })); // as kubectl writes it
  const live = parts.use(await startLiveCluster({ objects: objects.items, progress, fail: control.fail }));
  const results = new Map<string, CommandResult>();
  const commands = commandsFor(main, { json, yaml, live });
  for (let round = 1; round <= rounds; round++) {
    for (const { title, goal, measure } of commands) {
      control.signal.throwIfAborted();
      progress.at(`round ${round} of ${rounds}: ${title}`);
      const { seconds, peakMb, bytes } = await measure();
      const before = results.get(title) ?? { seconds: [], peakMb: [] };
      results.set(title, {
        title,
        seconds: [...before.seconds, seconds],
        peakMb: [...before.peakMb, ...peakMb],
        bytes,
        ...(goal !== undefined && { goal }),
      });
    }
  }
  const measured = [...results.values()];
  const versions = { switchyard: "sources", kubernetes: live.kubernetes };
  return { ...about, versions, options: { nodes, vfs, rounds }, commands: measured, goals: diagnosisGoals(measured) };
}

function commandsFor(
  main: string,
  { json, yaml, live }: { readonly json: string; readonly yaml: string; readonly live: LiveCluster },
): readonly Command[] {
  const parse = `JSON.parse(require("node:fs").readFileSync(${JSON.stringify(json)}, "utf8"))`;
  const forms = [
    { form: "JSON", file: json },
    { form: "YAML", file: yaml },
  ];
  const command = (title: string, args: readonly string[], goal?: CommandResult["goal"]): Command => {
    return { title, measure: () => run(title, args), ...(goal !== undefined && { goal }) };
  };
  return [
    command("JSON.parse alone", ["-e", parse]),
    ...forms.flatMap(({ form, file }) => [
      command(`doctor, ${form}`, [main, "doctor", "-f", file], "diagnosis"),
      command(`doctor -o html, ${form}`, [main, "doctor", "-f", file, "-o", "html"], "page"),
      command(`plan -o html, ${form}`, [main, "plan", "-f", file, "-o", "html"], "page"),
      command(`vfs -o html, ${form}`, [main, "vfs", "-f", file, "-o", "html"], "page"),
      command(`vfs, ${form}`, [main, "vfs", "-f", file]),
    ]),
    command("doctor, live", [main, "doctor", "--kubeconfig", live.kubeconfig], "live"),
    { title: listingTitle, measure: async () => ({ seconds: await live.listAgain(), peakMb: [], bytes: 0 }) },
  ];
}

/** The exit code is 1 if there are findings. */
async function run(title: string, args: readonly string[]): Promise<Measured> {
  const beginMs = performance.now();
  const child = spawn(process.execPath, ["--import", meter, ...args], { stdio: ["ignore", "pipe", "pipe"] });
  let bytes = 0;
  let words = "";
  child.stdout.on("data", (chunk: Buffer) => (bytes += chunk.length));
  child.stderr.setEncoding("utf8").on("data", (text: string) => (words = (words + text).slice(-2_000)));
  const [code] = (await once(child, "close")) as readonly unknown[];
  const seconds = (performance.now() - beginMs) / 1000;
  const [, peakKb] = /\npeak (\d+)\n$/.exec(words) ?? [];
  if ((code !== 0 && code !== 1) || peakKb === undefined) {
    throw new BenchError("ended", `${title} ended with ${String(code)}: ${words}`);
  }
  return { seconds, peakMb: [Number(peakKb) / 1000], bytes };
}
