// SPDX-License-Identifier: Apache-2.0
/** Helm 3 replaces a release of upstream's chart by Switchyard's, rolls back, and replaces it again. */
import { describeChartMigration } from "./describe-chart-migration.ts";

describeChartMigration("helm3");
