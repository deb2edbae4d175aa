// SPDX-License-Identifier: Apache-2.0
/** chartTemplates renders the chart with Helm 4, without a cluster. */
import { isRecord } from "@switchyard/kube";
import { findWorkspaceRoot } from "@switchyard/testing";
import { mkdtemp } from "node:fs/promises";
import { rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { prepareHelm, readManifest, type HelmResult, type Values } from "../../src/helm/helm.ts";

export type ChartObject = Readonly<Record<string, unknown>>;

export const chartDirectory = join(findWorkspaceRoot(), "charts/switchyard");
export const namespace = "sriov";

/** Disposing it removes its directory. */
export interface ChartTemplates extends Disposable {
  /** For files of Helm and of tests. */
  readonly directory: string;
  /** The rendered objects, hooks included. Rejects with Helm's words. */
  objects(values?: Values, args?: readonly string[]): Promise<readonly ChartObject[]>;
  /** What Helm says about values that it or the chart refuses. Rejects if they are accepted. */
  refusal(values: Values): Promise<string>;
  /** The notes that Helm prints after an installation. Rejects with Helm's words. */
  notes(values?: Values): Promise<string>;
  /** The status and outputs of `helm template`. */
  result(values: Values): Promise<HelmResult>;
}

/** Renders the chart of the workspace by default. */
export async function chartTemplates(chart = chartDirectory): Promise<ChartTemplates> {
  const directory = await mkdtemp(join(tmpdir(), "chart-"));
  const helm = await prepareHelm("helm4", { namespace, directory });
  const template = ["template", "sw", chart];
  return {
    directory,
    [Symbol.dispose]: () => {
      rmSync(directory, { recursive: true });
    },
    async objects(values = {}, args = []) {
      return readManifest(await helm.run([...template, ...args], values));
    },
    async refusal(values) {
      const { status, stderr } = await helm.try(template, values);
      if (status === 0) throw new Error(`accepted: ${JSON.stringify(values)}`);
      return stderr;
    },
    async notes(values = {}) {
      const printed = await helm.run(["install", "sw", chart, "--dry-run=client"], values);
      return printed.slice(printed.indexOf("\nNOTES:"));
    },
    result: (values) => helm.try(template, values),
  };
}

/** The only object of this kind and, if given, this name. Throws if there is not exactly one. */
export function only(objects: readonly ChartObject[], kind: string, name?: string): ChartObject {
  const found = objects.filter(
    (object) => object["kind"] === kind && (name === undefined || metadataOf(object)["name"] === name),
  );
  const [object] = found;
  if (object === undefined || found.length > 1) throw new Error(`${found.length} objects ${kind} ${name ?? ""}`);
  return object;
}

export function metadataOf(object: ChartObject): Readonly<Record<string, unknown>> {
  const metadata = object["metadata"];
  return isRecord(metadata) ? metadata : {};
}

/** "Deployment/sw-sriov-network-operator". */
export function idOf(object: ChartObject): string {
  return `${String(object["kind"])}/${String(metadataOf(object)["name"])}`;
}
