// SPDX-License-Identifier: Apache-2.0
/** measureDiagnosis measures commands that read the files of a large cluster, each as a process of its own. */
import { fleetObjects } from "@switchyard/testing";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { stringify } from "yaml";
import { BenchError } from "../harness/bench-error.ts";
import { bundleProgram } from "../harness/bundle.ts";
import { readMachine } from "../harness/machine-facts.ts";
import { startProgress } from "../harness/progress.ts";
import { diagnosisGoals, type CommandResult } from "./diagnosis-goals.ts";
import type { DiagnosisOptions } from "./diagnosis-options.ts";
import type { DiagnosisReport } from "./diagnosis-report.ts";

/** Prints the peak RSS in kB when the process ends, as the last line of stderr. */
const meter = `data:text/javascript,${encodeURIComponent(
  'import { writeSync } from "node:fs"; process.on("exit", () => writeSync(2, `\\npeak ${process.resourceUsage().maxRSS}\\n`));',
)}`;

interface Command extends Pick<CommandResult, "title" | "goal"> {
  readonly args: readonly string[];
}

/** Rejects with BenchError if a command fails. */
export async function measureDiagnosis({ nodes, vfs, rounds }: DiagnosisOptions): Promise<DiagnosisReport> {
  const about = { bench: "diagnosis", date: new Date().toISOString(), machine: readMachine() } as const;
  using progress = startProgress();
  const directory = await mkdtemp(join(tmpdir(), "bench-diagnosis-"));
  try {
    progress.at("bundling the command line");
    const main = await bundleProgram("apps/cli/src/main.ts");
    progress.at(`writing the objects of ${nodes} nodes`);
    const [json, yaml] = [join(directory, "cluster.json"), join(directory, "cluster.yaml")];
    const objects = fleetObjects({ nodes, vfsPerPf: vfs });
    await writeFile(json, JSON.stringify(objects));
    await writeFile(yaml, stringify(objects, { aliasDuplicateObjects: false })); // as kubectl writes it
    const results = new Map<string, { seconds: number[]; peakMb: number[]; bytes: number }>();
    const commands = commandsFor(main, { json, yaml });
    for (let round = 1; round <= rounds; round++) {
      for (const { title, args } of commands) {
        progress.at(`round ${round} of ${rounds}: ${title}`);
        const { seconds, peakMb, bytes } = await run(title, args);
        const before = results.get(title) ?? { seconds: [], peakMb: [], bytes };
        results.set(title, { seconds: [...before.seconds, seconds], peakMb: [...before.peakMb, peakMb], bytes });
      }
    }
    const measured = commands.map(({ title, goal }): CommandResult => {
      const result = results.get(title) ?? { seconds: [], peakMb: [], bytes: 0 };
      return { title, ...result, ...(goal !== undefined && { goal }) };
    });
    const versions = { switchyard: "sources" };
    return { ...about, versions, options: { nodes, vfs, rounds }, commands: measured, goals: diagnosisGoals(measured) };
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

function commandsFor(
  main: string,
  { json, yaml }: { readonly json: string; readonly yaml: string },
): readonly Command[] {
  const parse = `JSON.parse(require("node:fs").readFileSync(${JSON.stringify(json)}, "utf8"))`;
  const forms = [
    { form: "JSON", file: json },
    { form: "YAML", file: yaml },
  ];
  return [
    { title: "JSON.parse alone", args: ["-e", parse] },
    ...forms.flatMap(({ form, file }): readonly Command[] => [
      { title: `doctor, ${form}`, args: [main, "doctor", "-f", file], goal: "diagnosis" },
      { title: `doctor -o html, ${form}`, args: [main, "doctor", "-f", file, "-o", "html"], goal: "page" },
      { title: `plan -o html, ${form}`, args: [main, "plan", "-f", file, "-o", "html"], goal: "page" },
      { title: `vfs -o html, ${form}`, args: [main, "vfs", "-f", file, "-o", "html"], goal: "page" },
      { title: `vfs, ${form}`, args: [main, "vfs", "-f", file] },
    ]),
  ];
}

/** The exit code is 1 if there are findings. */
async function run(title: string, args: readonly string[]) {
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
  return { seconds, peakMb: Number(peakKb) / 1000, bytes };
}
