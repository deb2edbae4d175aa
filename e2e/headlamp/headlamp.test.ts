// SPDX-License-Identifier: Apache-2.0
/**
 * The plugin for Headlamp, as it is released, in Chromium with Headlamp's own library and a real API server. It is
 * loaded, shows the pages of doctor and vfs with the user's rights, says what the user may not read, and changes
 * nothing.
 */
import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import {
  collectionPath,
  connect,
  objectPath,
  type KubeObject,
  type ResourceType,
  type Transport,
} from "@switchyard/kube";
import { customResources, nodes, pods } from "@switchyard/api";
import { type ControlPlane, findWorkspaceRoot, fleetObjects, runProgram, startControlPlane } from "@switchyard/testing";
import { source as axe } from "axe-core";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Browser, Page } from "playwright-core";
import { launchChromium, missingForBrowser } from "../src/browser.ts";
import { crdFolder } from "../src/crds/crd-objects.ts";
import { buildShell, type Shell } from "./build-shell.ts";
import { startHeadlampServer, type HeadlampServer } from "./headlamp-server.ts";

const missing = missingForBrowser();
const hostile = `<script>document.title = "changed"</script>"><img src=x onerror=alert(1)>`;
const types: ReadonlyMap<string, ResourceType> = new Map(
  [...customResources, nodes, pods].map((type) => [type.kind, type]),
);

(missing === undefined ? describe : describe.skip)(`the plugin for Headlamp${missing ? ` (${missing})` : ""}`, () => {
  const stack = new AsyncDisposableStack();
  let cluster: ControlPlane;
  let admin: Transport;
  let browser: Browser;
  let shell: Shell;
  let plugin: string;

  beforeAll(async () => {
    const directory = await mkdtemp(join(tmpdir(), "switchyard-headlamp-"));
    stack.defer(() => rm(directory, { recursive: true, force: true }));
    shell = await buildShell(directory);
    plugin = await unpackPlugin(directory);
    cluster = stack.use(await startControlPlane());
    await cluster.applyCrds(crdFolder);
    admin = stack.use(await connect({ kubeconfig: cluster.kubeconfig }));
    await cluster.kubectl(["create", "namespace", "sriov-network-operator"]);
    for (const object of fleetObjects({ nodes: 5, vfsPerPf: 6, text: hostile }).items) await create(object);
    browser = await launchChromium();
    stack.defer(() => browser.close());
  }, 900_000);
  afterAll(() => stack.disposeAsync(), 60_000);

  async function unpackPlugin(directory: string): Promise<string> {
    const main = join(findWorkspaceRoot(), "tools/release/src/main.ts");
    const { stdout, stderr } = await runProgram(process.execPath, [main, "headlamp", "--output", directory]);
    const [archive = ""] = stdout.split(" ");
    if (archive === "") throw new Error(stderr);
    await runProgram("tar", ["-xzf", archive, "-C", directory]);
    return join(directory, "switchyard");
  }

  async function create({ status, ...object }: KubeObject & { readonly status?: unknown }): Promise<void> {
    const type = types.get(object.kind);
    if (type === undefined) throw new Error(`no kind ${object.kind}`);
    const { name, namespace } = object.metadata;
    if (namespace !== undefined) await ensureNamespace(namespace);
    await admin.request({ method: "POST", path: collectionPath(type, namespace), body: object });
    if (status === undefined) return;
    const path = objectPath(type, { name, ...(namespace !== undefined && { namespace }) }, "status");
    await admin.request({ method: "PATCH", path, body: { status }, contentType: "application/merge-patch+json" });
  }

  const namespaces = new Set(["default", "sriov-network-operator"]);
  async function ensureNamespace(name: string): Promise<void> {
    if (namespaces.has(name)) return;
    namespaces.add(name);
    await cluster.kubectl(["create", "namespace", name]);
    await cluster.kubectl(["create", "serviceaccount", "default", "-n", name]);
  }

  /** Opens the view as a user and lists what goes wrong in the page. */
  async function open(transport: Pick<Transport, "request">) {
    const server = await startHeadlampServer({ shell, plugin, transport });
    const page = await browser.newPage({ viewport: { width: 1280, height: 900 } });
    const errors: string[] = [];
    page.on("pageerror", (error) => {
      // The library contains no translations.
      if (!error.message.startsWith("Module not found in bundle: ./locales/")) errors.push(error.message);
    });
    await page.route(/^https:/, (route) => route.abort()); // icons, which Headlamp loads from the Internet
    await page.goto(`${server.url}/c/main/switchyard`);
    return { server, page, errors };
  }

  async function close({ server, page }: { readonly server: HeadlampServer; readonly page: Page }): Promise<void> {
    await page.close();
    await server[Symbol.asyncDispose]();
  }

  it("shows the diagnosis and the VFs of the cluster, and only lists objects", async () => {
    const opened = await open(admin);
    const { page, server, errors } = opened;
    const frame = page.frameLocator('iframe[title="Diagnosis of this cluster"]');
    await frame.getByRole("heading", { name: "Switchyard: Diagnosis" }).waitFor({ timeout: 60_000 });
    expect(await frame.getByText("worker-0004").first().textContent()).toContain("worker-0004");
    expect(await frame.getByText("NodeSyncFailed").count()).toBeGreaterThan(0);
    expect(await frame.getByText("<script>document.title").count()).toBeGreaterThan(0);

    await page.getByRole("tab", { name: "VFs" }).click();
    const vfs = page.frameLocator('iframe[title="VFs of this cluster"]');
    await vfs.getByRole("heading", { name: "Switchyard: VFs" }).waitFor();
    const note = await page.getByText(/^Not read: /).textContent();
    expect(note).toContain("Not read: network-attachment-definitions (not served). ");
    expect(errors).toEqual([]);
    expect(await page.title()).toBe("main - Switchyard");
    // Headlamp itself asks for the user's rights.
    const ofPlugin = server.requests.filter((request) => !request.includes("/authorization.k8s.io/"));
    expect(ofPlugin.filter((request) => !request.startsWith("GET "))).toEqual([]);
    expect(server.requests.filter((request) => request.includes("/secrets"))).toEqual([]);
    expect(await page.locator('a[href="/c/main/switchyard"]').count()).toBe(1);
    await close(opened);
  }, 120_000);

  it("shows changes after another reading", async () => {
    const opened = await open(admin);
    const { page } = opened;
    const frame = page.frameLocator("iframe");
    await frame.getByRole("heading", { name: "Switchyard: Diagnosis" }).waitFor({ timeout: 60_000 });
    const body = {
      apiVersion: "v1",
      kind: "Node",
      metadata: { name: "added", labels: { "node-role.kubernetes.io/worker": "" } },
    };
    await admin.request({ method: "POST", path: collectionPath(nodes), body });
    await page.getByRole("button", { name: "Read again" }).click();
    await frame.getByText("added").first().waitFor({ timeout: 60_000 });
    await close(opened);
  }, 120_000);

  it("says what the user may not read, and shows the rest", async () => {
    const role = ["--verb=list", "--resource=sriovnetworknodestates.sriovnetwork.openshift.io"];
    await cluster.kubectl(["create", "clusterrole", "states", ...role]);
    await cluster.kubectl(["create", "clusterrolebinding", "states", "--clusterrole=states", "--user=viewer"]);
    const kubeconfig = await cluster.clientFor({ user: "viewer" });
    await using viewer = await connect({ kubeconfig });
    const opened = await open(viewer);
    const { page } = opened;
    const frame = page.frameLocator("iframe");
    await frame.getByRole("heading", { name: "Switchyard: Diagnosis" }).waitFor({ timeout: 60_000 });
    const note = await page.getByText(/^Not read: /).textContent();
    expect(note).toContain("pods (not allowed)");
    expect(note).not.toContain("sriovnetworknodestates");
    expect(await frame.getByText("worker-0004").count()).toBeGreaterThan(0);
    await close(opened);
  }, 120_000);

  it("says why the cluster cannot be read", async () => {
    const opened = await open({
      request: (request) =>
        request.method === "POST" ? admin.request(request) : Promise.reject(new Error("the cluster does not answer")),
    });
    await opened.page.getByText(/^The cluster cannot be read: /).waitFor({ timeout: 60_000 });
    await close(opened);
  }, 120_000);

  it("can be used without seeing", async () => {
    const opened = await open(admin);
    const { page } = opened;
    await page
      .frameLocator("iframe")
      .getByRole("heading", { name: "Switchyard: Diagnosis" })
      .waitFor({ timeout: 60_000 });
    await page.evaluate(axe);
    const violations = await page.evaluate(
      `axe.run(document.querySelector("main"), { iframes: false }).then(({ violations }) => violations.map(({ id }) => id))`,
    );
    expect(violations).toEqual([]);
    await close(opened);
  }, 120_000);
});
