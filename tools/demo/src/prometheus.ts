// SPDX-License-Identifier: Apache-2.0
/**
 * startPrometheus starts a real Prometheus that scrapes processes of this machine over TLS, with a token, and evaluates the rules of the
 * chart. Its program is that of the PATH, or of Debian's package, which is downloaded and unpacked, not installed.
 * Usage: `const prometheus = await startPrometheus({ directory, tokenFile, targets, rules, intervalSeconds: 1 });`
 */
import { isRecord } from "@switchyard/kube";
import { eventually, findFreePorts, outputOf, runProgram, spawnGuarded, TestingError } from "@switchyard/testing";
import { cachedDirectory } from "@switchyard/testing/user-cache";
import { access, mkdir, readdir, writeFile } from "node:fs/promises";
import { delimiter, join } from "node:path";

export interface PrometheusOptions {
  /** A directory for its configuration, data and log. */
  readonly directory: string;
  /** The file with the token that it sends. */
  readonly tokenFile: string;
  readonly targets: readonly ScrapeTarget[];
  /** The content of a file with alerting rules. */
  readonly rules: string;
  /** Of scrapes and of evaluations of rules. */
  readonly intervalSeconds: number;
}

/** A process that is scraped: the values of the labels that the Prometheus operator gives its series, and its port. */
export interface ScrapeTarget {
  readonly job: string;
  readonly namespace: string;
  readonly port: number;
}

/** A value of a query, with the labels of its series. */
export interface Sample {
  readonly labels: Readonly<Record<string, string>>;
  readonly value: string;
}

/** An alert that is pending or firing. */
export interface ActiveAlert {
  readonly name: string;
  readonly state: string;
  readonly annotations: Readonly<Record<string, string>>;
}

/** Disposing it ends the process. */
export interface Prometheus extends AsyncDisposable {
  readonly url: string;
  readonly version: string;
  /** Evaluates an expression now. Rejects if Prometheus refuses it. */
  query(expression: string): Promise<readonly Sample[]>;
  alerts(): Promise<readonly ActiveAlert[]>;
}

/** Rejects with TestingError if there is no Prometheus and none can be downloaded. */
export async function startPrometheus(options: PrometheusOptions): Promise<Prometheus> {
  const { directory, tokenFile, targets, rules, intervalSeconds } = options;
  const program = await findPrometheus();
  const { stdout, stderr } = await runProgram(program, ["--version"]);
  const [port = 0] = await findFreePorts(1);
  await mkdir(directory, { recursive: true });
  await writeFile(join(directory, "rules.yaml"), rules);
  const interval = `${intervalSeconds}s`;
  const configuration = {
    global: { scrape_interval: interval, scrape_timeout: interval, evaluation_interval: interval },
    rule_files: [join(directory, "rules.yaml")],
    scrape_configs: targets.map(({ job, namespace, port: target }) => ({
      job_name: job,
      scheme: "https",
      tls_config: { insecure_skip_verify: true },
      authorization: { credentials_file: tokenFile },
      static_configs: [{ targets: [`127.0.0.1:${target}`], labels: { namespace } }],
    })),
  };
  const file = join(directory, "prometheus.yaml");
  await writeFile(file, JSON.stringify(configuration)); // which is YAML
  const flags = [`--config.file=${file}`, `--storage.tsdb.path=${join(directory, "data")}`];
  const running = spawnGuarded(program, [...flags, `--web.listen-address=127.0.0.1:${port}`], {
    log: join(directory, "prometheus.log"),
  });
  const url = `http://127.0.0.1:${port}`;

  async function get(path: string): Promise<unknown> {
    const response = await fetch(url + path);
    const body: unknown = await response.json();
    if (isRecord(body) && body["status"] === "success") return body["data"];
    throw new TestingError("program", `Prometheus refused ${path}: ${JSON.stringify(body)}`);
  }

  await eventually("Prometheus answers", () => fetch(`${url}/-/ready`).then(({ ok }) => ok), { withinMs: 60_000 });
  return {
    url,
    version: /version ([^\s,]+)/.exec(stdout + stderr)?.[1] ?? "unknown",
    async query(expression) {
      const data = await get(`/api/v1/query?query=${encodeURIComponent(expression)}`);
      return (isRecord(data) && Array.isArray(data["result"]) ? data["result"] : []).filter(isRecord).map(toSample);
    },
    async alerts() {
      const data = await get("/api/v1/alerts");
      return (isRecord(data) && Array.isArray(data["alerts"]) ? data["alerts"] : []).filter(isRecord).map(toAlert);
    },
    [Symbol.asyncDispose]: () => running.kill(),
  };
}

/** Returns the path of the program. */
async function findPrometheus(): Promise<string> {
  for (const folder of (process.env["PATH"] ?? "").split(delimiter)) {
    const program = join(folder, "prometheus");
    const isThere = await access(program).then(
      () => true,
      () => false,
    );
    if (folder !== "" && isThere) return program;
  }
  const tree = await cachedDirectory("debian-prometheus", async (draft) => {
    try {
      await outputOf("apt-get", ["download", "prometheus"], { cwd: draft });
      const [file = ""] = (await readdir(draft)).filter((name) => name.endsWith(".deb"));
      await outputOf("dpkg-deb", ["--extract", join(draft, file), draft]);
    } catch (cause) {
      const words = "Prometheus is missing: install it, or run this on Debian or Ubuntu";
      throw new TestingError("programs", words, { cause });
    }
  });
  return join(tree, "usr/bin/prometheus");
}

function toSample({ metric, value }: Readonly<Record<string, unknown>>): Sample {
  const [, text] = Array.isArray(value) ? (value as readonly unknown[]) : [];
  return { labels: textsOf(metric), value: String(text) };
}

function toAlert({ labels, state, annotations }: Readonly<Record<string, unknown>>): ActiveAlert {
  return { name: textsOf(labels)["alertname"] ?? "", state: String(state), annotations: textsOf(annotations) };
}

function textsOf(value: unknown): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(isRecord(value) ? value : {}).map(([name, text]) => [name, String(text)]));
}
