// SPDX-License-Identifier: Apache-2.0
/**
 * The sets in examples/: accepted without a warning for the nodes of examples/cluster, their parts fit together, and the pages in
 * docs/guide/tasks quote them. The README's commands for manifests work as they are written.
 */
import { describe, expect, it } from "@jest/globals";
import { evaluate } from "@marcbachmann/cel-js";
import { customResources } from "@switchyard/api";
import { isRecord } from "@switchyard/kube";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parse, parseAllDocuments } from "yaml";
import { runCli } from "./testing/run-cli.ts";

const root = join(import.meta.dirname, "../../..");
const cluster = join(root, "examples/cluster");
const pages = join(root, "docs/guide/tasks");
const license = "# SPDX-License-Identifier: Apache-2.0\n";
const sets = readdirSync(join(root, "examples"), { withFileTypes: true })
  .filter((entry) => entry.isDirectory() && !["cluster", "gitops"].includes(entry.name))
  .map(({ name }) => name);

/** What the webhook says about a set whose purpose is to reboot hosts. */
const expectedWarnings: Readonly<Record<string, readonly string[]>> = {
  smartnic: ["spec.ovnHardwareOffload: 1 node of pool dpu-host reboots (dpu-1) so that OVN runs on the SmartNIC"],
};

/** Objects of other projects, which no verb reads. */
const foreignKinds = ["KubeVirt", "NodeNetworkConfigurationPolicy", "VirtualMachine"];

interface ExampleFile {
  /** "examples/dpdk-vfio/policy.yaml" */
  readonly path: string;
  /** Without the line of the license. */
  readonly text: string;
}

interface Attached {
  readonly networks: readonly string[];
  /** Requests and limits of the first container. */
  readonly requested: readonly unknown[];
}

const read = (path: string): string => readFileSync(join(root, path), "utf8");

function documentsIn(text: string): readonly unknown[] {
  return parseAllDocuments(text).map((document) => {
    const value: unknown = document.toJS();
    return value;
  });
}

function filesOf(set: string): readonly ExampleFile[] {
  return readdirSync(join(root, "examples", set)).map((file) => {
    const path = `examples/${set}/${file}`;
    const text = read(path);
    return { path, text: text.startsWith(license) ? text.slice(license.length) : `${path} has no license` };
  });
}

const objectsOf = (set: string): readonly unknown[] => filesOf(set).flatMap(({ text }) => documentsIn(text));

/** The value at a path of keys, undefined if there is none. */
function at(value: unknown, ...path: readonly (string | number)[]): unknown {
  return path.reduce<unknown>((found, key) => {
    if (Array.isArray(found)) return (found as readonly unknown[])[Number(key)];
    return isRecord(found) ? found[key] : undefined;
  }, value);
}

/** The networks that pods and virtual machines of a set name, and what their first containers request. */
function attachedIn(set: string): readonly Attached[] {
  return objectsOf(set).flatMap((object): readonly Attached[] => {
    if (at(object, "kind") === "Pod") {
      const annotations = at(object, "metadata", "annotations");
      const named = ["k8s.v1.cni.cncf.io/networks", "v1.multus-cni.io/default-network"].map((key) =>
        at(annotations, key),
      );
      const resources = at(object, "spec", "containers", 0, "resources");
      const requested = [at(resources, "requests"), at(resources, "limits")];
      return [{ networks: named.filter((name) => typeof name === "string"), requested }];
    }
    if (at(object, "kind") !== "VirtualMachine") return [];
    // KubeVirt requests the resource of the network for the pod of the machine.
    const name = at(object, "spec", "template", "spec", "networks", 1, "multus", "networkName");
    return [{ networks: typeof name === "string" ? [name] : [], requested: [] }];
  });
}

describe("the examples", () => {
  it("have a page each, which a list of the examples names", () => {
    expect(sets.length).toBeGreaterThanOrEqual(9);
    expect(readdirSync(pages).filter((file) => file !== "README.md")).toEqual(sets.map((set) => `${set}.md`));
    for (const list of ["examples/README.md", "docs/guide/tasks/README.md"]) {
      expect(sets.filter((set) => !read(list).includes(`${set}.md)`))).toEqual([]);
    }
  });

  it.each(sets)("%s: is accepted, and the nodes have something to do, without a problem or a warning", async (set) => {
    const given = ["-f", join(root, "examples", set)];
    const validated = await runCli(["validate", ...given, "--existing", cluster, "-o", "json"]);
    const answers = JSON.parse(validated.out) as readonly { readonly allowed: boolean; readonly warnings: unknown[] }[];
    expect(answers.filter(({ allowed }) => !allowed)).toEqual([]);
    expect(answers.flatMap(({ warnings }) => warnings)).toEqual(expectedWarnings[set] ?? []);

    const planned = await runCli(["plan", "-f", cluster, ...given, "--detailed-exitcode"]);
    expect({ validated: validated.code, planned: planned.code }).toEqual({ validated: 0, planned: 2 });
    const ignored = (line: string): boolean =>
      foreignKinds.some((kind) => /^ignored: /.test(line) && line.includes(kind));
    const said = `${validated.err}${planned.err}`.split("\n").filter((line) => line !== "" && !ignored(line));
    expect(said).toEqual([]);
  });

  it.each(sets)("%s: the pod names the network and requests its resource", async (set) => {
    const flags = ["--only", "NetworkAttachmentDefinition", "-o", "json"];
    const { out } = await runCli(["render", "-f", cluster, "-f", join(root, "examples", set), ...flags]);
    const definitions = at(JSON.parse(out), "items");
    expect(definitions).toHaveLength(1);
    const definition = at(definitions, 0);
    const resource = at(definition, "metadata", "annotations", "k8s.v1.cni.cncf.io/resourceName");
    const [namespace, name] = [at(definition, "metadata", "namespace"), at(definition, "metadata", "name")];
    const attached = attachedIn(set);
    expect(attached).toHaveLength(1);
    for (const { networks, requested } of attached) {
      // A pod without a namespace in its annotation means its own, which is that of the network.
      expect(networks.map((network) => (network.includes("/") ? network : `default/${network}`))).toEqual([
        `${String(namespace)}/${String(name)}`,
      ]);
      for (const quantities of requested) expect(at(quantities, String(resource))).toBe("1");
    }
  });
});

describe("the pages of docs/guide/tasks", () => {
  it.each(sets)("%s: quotes each file of its example", (set) => {
    const page = read(`docs/guide/tasks/${set}.md`);
    const quoted = [...page.matchAll(/<!-- (examples\/\S+) -->\n\n```yaml\n([^]*?)```/g)];
    const texts = Object.fromEntries(quoted.map(([, path = "", text]) => [path, text]));
    expect(texts).toEqual(Object.fromEntries(filesOf(set).map(({ path, text }) => [path, text])));
  });

  it.each(sets)("%s: says how to apply, check and repair, and names only files that exist", (set) => {
    const page = read(`docs/guide/tasks/${set}.md`);
    const sections = [...page.matchAll(/^## (.*)$/gm)].map(([, title]) => title);
    expect(sections).toEqual(expect.arrayContaining(["Manifests", "Apply", "Check", "If it does not work"]));
    const named = [...page.matchAll(/-f(?:ile)? (examples\/\S+)/g)].map(([, path = ""]) => path);
    expect(named.length).toBeGreaterThan(2);
    expect(named.filter((path) => !existsSync(join(root, path)))).toEqual([]);
  });
});

describe("the README's commands for manifests", () => {
  const [, section = ""] = /^## Check your manifests.*\n([^]*?)\n## /m.exec(read("README.md")) ?? [];
  const commands = [...section.matchAll(/^npx switchyard ([^#\n]+)/gm)].map(([, words = ""]) =>
    words.trim().split(/ +/),
  );
  const rooted = (word: string): string => (word.startsWith("examples/") ? join(root, word) : word);

  it.each(commands.map((words) => [words.join(" "), words] as const))("%s", async (_, words) => {
    const { code, out, err } = await runCli(words.map(rooted));
    expect({ code, err }).toEqual({ code: 0, err: "" });
    expect(out).not.toBe("");
  });

  it("are two, and a line says how a file of a cluster is made", () => {
    expect(commands.map(([verb]) => verb)).toEqual(["validate", "plan"]);
    expect(section).toMatch(/^kubectl get \S+ -A -o yaml > cluster\.yaml/m);
  });
});

describe("the examples for Argo CD and Flux", () => {
  const documentsOf = (file: string) => documentsIn(read(`examples/gitops/${file}.yaml`));
  const ofKind = (file: string, kind: string) => documentsOf(file).find((object) => at(object, "kind") === kind);
  const list = (value: unknown): readonly unknown[] => (Array.isArray(value) ? (value as unknown[]) : []);
  const checks = list(at(ofKind("flux", "Kustomization"), "spec", "healthCheckExprs"));
  const condition = (type: string) => ({ type, status: "True" });

  it("are quoted by their page", () => {
    const page = read("docs/guide/gitops.md");
    for (const file of ["argo-cd", "flux"]) {
      const text = read(`examples/gitops/${file}.yaml`).slice(license.length);
      expect(page).toContain(`<!-- examples/gitops/${file}.yaml -->\n\n\`\`\`yaml\n${text}\`\`\``);
    }
  });

  it("check the health of every kind", () => {
    const kinds = customResources.map(({ group, version, kind }) => `${group}/${version} ${kind}`);
    expect(checks.map((check) => `${String(at(check, "apiVersion"))} ${String(at(check, "kind"))}`).toSorted()).toEqual(
      kinds.toSorted(),
    );
    const lua: unknown = parse(String(at(ofKind("argo-cd", "ConfigMap"), "data", "resource.customizations")));
    const groups = new Set(customResources.map(({ group }) => `${group}/*`));
    expect(isRecord(lua) && Object.keys(lua).toSorted()).toEqual([...groups].toSorted());
  });

  it.each([
    { conditions: [condition("Ready")], current: true, failed: false },
    { conditions: [condition("Progressing")], current: false, failed: false },
    { conditions: [condition("Progressing"), condition("Degraded")], current: false, failed: true },
  ])("say by their expressions: $conditions", ({ conditions, current, failed }) => {
    const results = checks.map((check) =>
      ["current", "failed"].map((key): unknown => evaluate(String(at(check, key)), { status: { conditions } })),
    );
    expect(results).toEqual(checks.map(() => [current, failed]));
  });
});
