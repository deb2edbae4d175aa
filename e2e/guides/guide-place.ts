// SPDX-License-Identifier: Apache-2.0
/**
 * createGuidePlace creates what the commands of the guides need: a directory with the chart of the checkout, a kubeconfig with
 * the context C, and kubectl, Helm 4 and switchyard.
 */
import { goPrograms } from "@switchyard/go-programs";
import type { TestCluster } from "@switchyard/test-cluster";
import { findWorkspaceRoot } from "@switchyard/testing";
import { cp, mkdir, readFile, symlink, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { upstreamChart } from "../src/helm/helm.ts";
import { readGuide, type Block } from "./read-guide.ts";
import type { GuidePlace } from "./run-guide.ts";

/** The charts in registries: that of Switchyard, which is not published yet, and upstream's, which tests cannot reach. */
const published = "oci://ghcr.io/switchyard/charts/switchyard";
const upstreams = "oci://ghcr.io/k8snetworkplumbingwg/sriov-network-operator-chart";

/** Rejects if Helm cannot be built. */
export async function createGuidePlace({
  cluster,
  directory: parent,
  kubectlFile,
}: Pick<TestCluster, "cluster" | "directory" | "kubectlFile">): Promise<GuidePlace> {
  const directory = join(parent, "guide");
  const programs = join(directory, "bin");
  const kubeconfig = join(directory, "kubeconfig");
  await mkdir(programs, { recursive: true });
  await symlink(join(findWorkspaceRoot(), "charts"), join(directory, "charts"));
  await cp(cluster.kubeconfig, kubeconfig);
  const current = await cluster.kubectl(["config", "current-context"], { kubeconfig });
  await cluster.kubectl(["config", "rename-context", current.trim(), "C"], { kubeconfig });
  const helm = join(await goPrograms("helm4"), "helm");
  const cli = join(findWorkspaceRoot(), "apps/cli/src/main.ts");
  const charts = new Map([
    [published, "charts/switchyard"],
    [upstreams, await upstreamChart("1.6.0")],
  ]);
  const inPattern = (text: string): string => text.replaceAll("/", String.raw`\/`);
  const replace = ([from, to]: readonly [string, string]): string =>
    `set -- "\${@/#${inPattern(from)}/${inPattern(to)}}"`;
  const scripts = {
    helm: `${[...charts].map(replace).join("\n")}\nexec ${helm} "$@"`,
    switchyard: `exec ${process.execPath} --disable-warning=ExperimentalWarning ${cli} "$@"`,
  };
  for (const [name, command] of Object.entries(scripts)) {
    await writeFile(join(programs, name), `#!/bin/bash\n${command}\n`, { mode: 0o755 });
  }
  return { kubeconfig, path: [programs, dirname(kubectlFile)], directory };
}

/** Reads the blocks of a file of the workspace, or of one of its sections. */
export async function blocksOf(file: string, section?: string): Promise<readonly Block[]> {
  return readGuide(await readFile(join(findWorkspaceRoot(), file), "utf8"), section);
}
