// SPDX-License-Identifier: Apache-2.0
/**
 * readPlacedSnapshot reads what switchyard doctor and vfs examine, with the namespace in which the operator of the input runs. Advice
 * that assumes another namespace would tell users to move all their policies.
 */
import { apiGroup, operatorConfigName } from "@switchyard/api";
import type { Flags } from "../flags.ts";
import type { Manifest } from "../json.ts";
import { CliError, type Diagnostics, type Terminal } from "../terminal.ts";
import type { SnapshotInput } from "./read-cluster.ts";
import { isLive, readSnapshotInput } from "./read-input.ts";

/** The input, and the namespace of the operator. */
export interface PlacedSnapshot extends SnapshotInput {
  readonly namespace: string;
}

/**
 * Without --namespace, the namespace is the one that the input shows. Throws CliError "unavailable" if --namespace names another one,
 * and as readSnapshotInput does.
 */
export async function readPlacedSnapshot(
  flags: Flags,
  terminal: Terminal,
  diagnostics: Diagnostics,
): Promise<PlacedSnapshot> {
  const { namespace, isNamespaceGiven } = flags;
  const input = await readSnapshotInput(flags, terminal, diagnostics);
  const found = operatorNamespaceIn(input.manifests);
  if (found === undefined || found === namespace) return { ...input, namespace };
  if (isNamespaceGiven) {
    throw new CliError("unavailable", `the operator runs in namespace ${found}, not in ${namespace}: use -n ${found}`);
  }
  diagnostics.note(`the operator runs in namespace ${found}`);
  // Of a cluster, some kinds are only read in the namespace of the operator.
  const again = isLive(flags) ? await readSnapshotInput({ ...flags, namespace: found }, terminal, diagnostics) : input;
  return { ...again, namespace: found };
}

/**
 * Returns the namespace of the only SriovOperatorConfig "default", or of the only Lease of an operator. Undefined if there are several
 * or none, or if they contradict each other.
 */
function operatorNamespaceIn(manifests: readonly Manifest[]): string | undefined {
  const namespacesOf = (isWanted: (manifest: Manifest) => boolean) => {
    return [...new Set(manifests.filter(isWanted).map(({ namespace }) => namespace))];
  };
  const configs = namespacesOf(({ kind, apiVersion, name }) => {
    return kind === "SriovOperatorConfig" && apiVersion.startsWith(`${apiGroup}/`) && name === operatorConfigName;
  });
  const leases = namespacesOf(({ kind, name }) => kind === "Lease" && name === "switchyard-operator");
  const found = new Set([...configs, ...leases]);
  // An object without a namespace belongs to the one of the flag.
  return found.size === 1 ? [...found][0] || undefined : undefined;
}
