// SPDX-License-Identifier: Apache-2.0
/**
 * startContainer runs the program of a container as a process of this machine, with what a kubelet gives to a
 * container. This is the environment, the arguments, the API server's address and a token bound to the pod.
 */
import { isRecord, objectPath, type KubeObject, type Transport } from "@switchyard/kube";
import { findFreePorts, podCommand, spawnGuarded, type GuardedProcess } from "@switchyard/testing";
import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fieldAt } from "../api/plain-api.ts";

/** A variable of a container. */
export interface EnvVar {
  readonly name: string;
  readonly value?: string;
  readonly valueFrom?: {
    readonly fieldRef?: { readonly fieldPath: string };
    readonly secretKeyRef?: KeyRef;
    readonly configMapKeyRef?: KeyRef;
  };
}

interface KeyRef {
  readonly name: string;
  readonly key: string;
  readonly optional?: boolean;
}

/** The fields of a container that are used here. */
export interface Container {
  readonly name: string;
  readonly image: string;
  readonly command?: readonly string[];
  readonly args?: readonly string[];
  readonly env?: readonly EnvVar[];
  readonly readinessProbe?: { readonly httpGet?: { readonly path: string; readonly port: number | string } };
  readonly ports?: readonly { readonly name?: string; readonly containerPort: number }[];
  readonly volumeMounts?: readonly { readonly name: string; readonly mountPath: string }[];
}

/** The fields of a pod that are used here. */
export interface Pod extends KubeObject {
  readonly spec: {
    readonly nodeName?: string;
    readonly serviceAccountName?: string;
    readonly automountServiceAccountToken?: boolean;
    readonly restartPolicy?: "Always" | "OnFailure" | "Never";
    readonly affinity?: unknown;
    readonly containers: readonly Container[];
    readonly volumes?: readonly { readonly name: string; readonly secret?: { readonly secretName?: string } }[];
  };
  readonly status?: { readonly phase?: string };
}

/** A program of this machine for an image. */
export interface Program {
  /** The program of the image, and its first arguments. */
  readonly command: readonly string[];
  /** The command by which a pod template may start it. Without it, a template must use the image's entry point. */
  readonly named?: string;
  /** Its working directory. */
  readonly directory?: string;
  readonly variables?: Readonly<Record<string, string>>;
}

/** What a container needs. */
export interface ContainerStart {
  readonly transport: Transport;
  /** "https://127.0.0.1:6443" */
  readonly server: string;
  readonly pod: Pod;
  readonly container: Container;
  readonly program: Program;
  /** Path of the file to which the output is appended. */
  readonly log: string;
}

/** A container that runs. */
export interface ContainerProcess extends GuardedProcess {
  /** Ports of the container with the ports of this machine at which they are. */
  readonly ports: ReadonlyMap<number, number>;
  /** Whether its readiness probe succeeds now; true without a probe. */
  isReady(): Promise<boolean>;
}

/** Returns the directory with the files of a volume that is a Secret. `log` is the log of the pod. */
export function volumeDirectory(log: string, volume: string): string {
  return `${log}.${volume}`;
}

/** Rejects if a Secret, ConfigMap or service account that the container needs does not exist. */
export async function startContainer(start: ContainerStart): Promise<ContainerProcess> {
  const { transport, server, pod, container, program, log } = start;
  const { command, named, directory = dirname(log), variables = {} } = program;
  if (container.command !== undefined && container.command.join(" ") !== named) {
    throw new Error(`container ${container.name} replaces the image's entry point by "${container.command.join(" ")}"`);
  }
  const inVolumes = await writeSecrets(start);
  const environment: Record<string, string> = {};
  for (const variable of container.env ?? []) {
    const value = await valueOf(transport, pod, variable);
    if (value !== undefined) environment[variable.name] = expand(value, environment);
  }
  // All pods share the network of this machine: each address gets a free port of the loopback interface.
  const ports = new Map<number, number>();
  for (const [name, value] of Object.entries(environment)) {
    const port = /^[^:/]*:(\d+)$/.exec(value)?.[1];
    if (!name.endsWith("_ADDRESS") || port === undefined) continue;
    const free = await portFor(Number(port), ports);
    environment[name] = `127.0.0.1:${free}`;
  }
  const { namespace = "", uid = "" } = pod.metadata;
  const account = {
    server,
    namespace,
    authority: await authorityOf(transport, namespace),
    token: await requestToken(transport, pod, uid),
  };
  const args: string[] = [];
  for (const argument of container.args ?? []) {
    const expanded = inVolumes(expand(argument, environment));
    const port = /^--port=(\d+)$/.exec(expanded)?.[1];
    if (port === undefined) args.push(expanded);
    else {
      args.push(`--port=${await portFor(Number(port), ports)}`);
    }
  }
  const pairs = Object.entries({ PATH: process.env["PATH"] ?? "", ...environment, ...variables });
  const { file, args: inPod } = podCommand(account, [...command, ...args]);
  const running = spawnGuarded(
    "/usr/bin/env",
    ["-i", "-C", directory, ...pairs.map(([name, value]) => `${name}=${value}`), file, ...inPod],
    { log },
  );
  const probe = container.readinessProbe?.httpGet;
  const probed = container.ports?.find(({ name }) => name === probe?.port)?.containerPort ?? probe?.port;
  const port = ports.get(Number(probed));
  return {
    ...running,
    ports,
    isReady: async () => {
      if (running.hasExited()) return false;
      if (probe === undefined) return true;
      const answer = await fetch(`http://127.0.0.1:${port}${probe.path}`).catch(() => undefined);
      return answer?.ok === true;
    },
  };
}

/**
 * Writes the files of the Secrets that the container mounts. Returns a function that replaces paths below their mount points in
 * an argument. Rejects while a Secret does not exist, as a kubelet waits for it.
 */
async function writeSecrets({ transport, pod, container, log }: ContainerStart): Promise<(text: string) => string> {
  const places: (readonly [string, string])[] = [];
  for (const { name, mountPath } of container.volumeMounts ?? []) {
    const secret = pod.spec.volumes?.find((volume) => volume.name === name)?.secret?.secretName;
    if (secret === undefined) continue;
    const place = { name: secret, namespace: pod.metadata.namespace ?? "" };
    const found = fieldAt(await transport.request({ method: "GET", path: objectPath(core("secrets"), place) }), "data");
    const directory = volumeDirectory(log, name);
    await mkdir(directory, { recursive: true });
    for (const [file, data] of Object.entries(isRecord(found) ? found : {})) {
      await writeFile(join(directory, file), Buffer.from(String(data), "base64"), { mode: 0o600 });
    }
    places.push([`=${mountPath}/`, `=${directory}/`]);
  }
  return (text) => places.reduce((path, [mounted, here]) => path.replace(mounted, here), text);
}

/** Returns the port of this machine for a port of the container. Two addresses can share a port. */
async function portFor(port: number, ports: Map<number, number>): Promise<number> {
  const [free = 0] = ports.has(port) ? [ports.get(port)] : await findFreePorts(1);
  ports.set(port, free);
  return free;
}

/** Replaces references such as $(NAME). An unknown one stays, as with the kubelet. */
function expand(text: string, environment: Readonly<Record<string, string>>): string {
  return text.replaceAll(/\$\(([A-Za-z_][\w.-]*)\)/g, (reference, name: string) => environment[name] ?? reference);
}

async function valueOf(transport: Transport, pod: Pod, { value, valueFrom }: EnvVar): Promise<string | undefined> {
  if (valueFrom === undefined) return value ?? "";
  const { fieldRef, secretKeyRef, configMapKeyRef } = valueFrom;
  if (fieldRef !== undefined) {
    const found = fieldAt(pod, ...fieldRef.fieldPath.split("."));
    return typeof found === "string" ? found : "";
  }
  const ref = secretKeyRef ?? configMapKeyRef;
  if (ref === undefined) throw new Error("a variable has an unknown source");
  const plural = secretKeyRef === undefined ? "configmaps" : "secrets";
  const path = objectPath(core(plural), { name: ref.name, namespace: pod.metadata.namespace ?? "" });
  const data = await transport.request({ method: "GET", path }).then(
    (object) => fieldAt(object, "data", ref.key),
    (error: unknown) => {
      if (ref.optional === true) return undefined;
      throw error;
    },
  );
  if (typeof data !== "string") {
    if (ref.optional === true) return undefined;
    throw new Error(`${plural} ${ref.name} has no key "${ref.key}"`);
  }
  return secretKeyRef === undefined ? data : Buffer.from(data, "base64").toString();
}

/** Returns the certificate authority that the controller manager publishes in each namespace. */
async function authorityOf(transport: Transport, namespace: string): Promise<string> {
  const path = objectPath(core("configmaps"), { name: "kube-root-ca.crt", namespace });
  const found = fieldAt(await transport.request({ method: "GET", path }), "data", "ca.crt");
  if (typeof found !== "string") throw new TypeError(`${path} has no ca.crt`);
  return found;
}

async function requestToken(transport: Transport, pod: Pod, uid: string): Promise<string> {
  if (pod.spec.automountServiceAccountToken === false) return "";
  const name = pod.spec.serviceAccountName ?? "default";
  const { namespace = "" } = pod.metadata;
  const boundObjectRef = { apiVersion: "v1", kind: "Pod", name: pod.metadata.name, uid };
  const answer = await transport.request({
    method: "POST",
    path: `${objectPath(core("serviceaccounts"), { name, namespace })}/token`,
    body: {
      apiVersion: "authentication.k8s.io/v1",
      kind: "TokenRequest",
      spec: { expirationSeconds: 3600, boundObjectRef },
    },
  });
  const token = isRecord(answer) ? fieldAt(answer, "status", "token") : undefined;
  if (typeof token !== "string") throw new TypeError(`no token for the service account ${name}`);
  return token;
}

function core(plural: "configmaps" | "secrets" | "serviceaccounts") {
  const kind = { configmaps: "ConfigMap", secrets: "Secret", serviceaccounts: "ServiceAccount" }[plural];
  return { group: "", version: "v1", kind, plural, namespaced: true } as const;
}
