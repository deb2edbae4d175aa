// SPDX-License-Identifier: Apache-2.0
/**
 * `switchyard migrate check` says what to know before a cluster of the Go operator is taken over, and `switchyard migrate leftovers`
 * what Switchyard has left in a cluster that went back.
 */
import { collectObjects } from "../cluster/cluster-objects.ts";
import type { RefusedObject } from "../diagnosis/snapshot.ts";
import { withCurrentContext } from "../input/current-context.ts";
import { isLive, readSnapshotInput } from "../input/read-input.ts";
import type { Manifest } from "../json.ts";
import { checkMigration, type MigrationCheck } from "../migration/check-migration.ts";
import { readHelmRelease } from "../migration/helm-release.ts";
import { printData } from "../output/to-yaml.ts";
import {
  CliError,
  textStyleOf,
  createDiagnostics,
  exitCodes,
  silentDiagnostics,
  type TextStyle,
  type ExitCode,
} from "../terminal.ts";
import { printable } from "../text.ts";
import type { Call, RunVerb } from "../verb.ts";

export const migrate: RunVerb = async ({ flags: given, operands, terminal }) => {
  const [operand, ...more] = operands;
  if (more.length === 0 && operand === "leftovers") return printLeftovers({ flags: given, terminal });
  if (operand !== "check" || more.length > 0) {
    throw new CliError("usage", "the operand must be check or leftovers: switchyard migrate check");
  }
  const diagnostics = createDiagnostics(terminal.stderr);
  const flags = await withCurrentContext(given, terminal, diagnostics);
  const { namespace, output = "text", helmVersion } = flags;
  const input = await readSnapshotInput(flags, terminal, diagnostics);
  const manifests = [...input.manifests, ...(await releaseSecrets({ flags, terminal }))];
  const refused: RefusedObject[] = [];
  const cluster = collectObjects(manifests, {
    namespace,
    diagnostics: silentDiagnostics, // what is refused is a finding
    isIgnoredNoted: false,
    onRefused: (manifest, problem) => refused.push({ manifest, problem }),
  });
  const check = checkMigration({
    cluster,
    manifests,
    refused,
    namespace,
    kubernetesVersion: input.kubernetesVersion,
    helmVersion,
    release: readHelmRelease(manifests, namespace),
  });
  if (output === "text") {
    terminal.stdout.write(migrationText(check, textStyleOf(terminal.stdout, terminal.env)));
  } else {
    printData(check, output, terminal.stdout);
  }
  const stands = check.findings.some(({ severity }) => severity === "stop");
  return stands ? exitCodes.no : diagnostics.exitCode();
};

async function printLeftovers({ flags: given, terminal }: Pick<Call, "flags" | "terminal">): Promise<ExitCode> {
  if (given.filename.length > 0) throw new CliError("usage", "migrate leftovers reads a cluster: remove -f");
  const { context, kubeconfig, namespace } = await withCurrentContext(
    given,
    terminal,
    createDiagnostics(terminal.stderr),
  );
  const { leftoversScript, readLeftovers } = await import("../migration/leftovers.ts");
  const source = { context, kubeconfig, namespace };
  const leftovers = await readLeftovers({ ...source, env: terminal.env });
  terminal.stdout.write(leftoversScript(leftovers, source));
  return exitCodes.done;
}

async function releaseSecrets({ flags, terminal }: Pick<Call, "flags" | "terminal">): Promise<readonly Manifest[]> {
  if (!isLive(flags)) return [];
  const { readReleaseSecrets } = await import("../migration/release-secrets.ts");
  const { context, kubeconfig, namespace } = flags;
  return readReleaseSecrets({ context, kubeconfig, namespace, env: terminal.env });
}

function migrationText({ facts, findings, restarts, wayBack }: MigrationCheck, style: TextStyle): string {
  const stops = findings.filter(({ severity }) => severity === "stop");
  const notes = findings.filter(({ severity }) => severity === "note");
  const section = (title: string, lines: readonly string[]) =>
    lines.length === 0 ? [] : ["", style.bold(title), ...lines.map((line) => `  ${printable(line)}`)];
  const lines = [
    ...facts.map(printable),
    ...section(
      "Correct first",
      stops.map(({ about, text }) => `${about} ${text}`),
    ),
    ...section(
      "To know",
      notes.map(({ about, text }) => `${about} ${text}`),
    ),
    ...section("Restarts", restarts),
    ...section("The way back", wayBack === undefined ? [] : [wayBack]),
    "",
    stops.length === 0
      ? style.green("Nothing stands in the way of the upgrade.")
      : style.red(stops.length === 1 ? "1 thing stands in the way." : `${stops.length} things stand in the way.`),
  ];
  return `${lines.join("\n")}\n`;
}
