// Made by generate.mjs of /openapi.json with all modules.
export interface paths {
    "/": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Leads to the console */
        get: operations["console.first"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/account": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * The caller's account
         * @description It is made when its owner comes for the first time.
         */
        get: operations["accounts.own"];
        put?: never;
        post?: never;
        /**
         * Delete the caller's account
         * @description Ends its sessions, revokes its API keys and deletes its agents, credentials, threads, runs and files. All tokens that were issued until now are refused at once. An API key cannot do it. The ledger stays, without name and address.
         */
        delete: operations["accounts.close_own"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/accounts/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Any account */
        get: operations["accounts.show"];
        /**
         * Change tier or role
         * @description A role only by a super admin.
         */
        put: operations["accounts.change"];
        post?: never;
        /**
         * Delete an account
         * @description As `DELETE /account`. An account with a role only by a super admin.
         */
        delete: operations["accounts.close"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/accounts/{id}/grant": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Give credits */
        post: operations["accounts.grant"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/accounts/{id}/ledger": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** An account's ledger, newest first */
        get: operations["accounts.ledger"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/accounts/{id}/revoke": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Take credits */
        post: operations["accounts.revoke"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/audit": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** What admins did, newest first */
        get: operations["accounts.audit"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/events": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Publish an event about an account
         * @description For a billing system. `payment.succeeded` needs `account_id`, `amount`, `currency` and `plan_name`; `payment.failed` needs `reason` instead of `plan_name`. The users are notified. A repeat with the same kind and key publishes nothing; with another payload it is 409 `IDEMPOTENCY_KEY_REUSED`. Keys are remembered for 90 days.
         */
        post: operations["accounts.publish_event"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/jobs": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Jobs in one state, newest first */
        get: operations["host.list_jobs"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/jobs/{id}/discard": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Remove a job that was given up
         * @description Its work is not done. Stands in the audit.
         */
        post: operations["host.discard_job"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/jobs/{id}/retry": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Try a job again that was given up
         * @description With all its attempts, as soon as a node is free. Stands in the audit.
         */
        post: operations["host.retry_job"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/mail": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Mail that has ended, newest first */
        get: operations["mail.list"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/mail/{id}/requeue": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Try a message again
         * @description One that was given up or refused; its address is allowed again if it bounced.
         */
        post: operations["mail.requeue"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/mail/suppressions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Addresses that get no mail, newest first */
        get: operations["mail.suppressions"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/mail/suppressions/{address}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /** Allow mail to an address again */
        delete: operations["mail.lift"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/mail/suppressions/lift": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Allow mail to many addresses again
         * @description For example to all that bounced while the relay was misconfigured. Members that are given narrow it together. Recipients who unsubscribed are lifted one by one.
         */
        post: operations["mail.lift_many"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/mcp/call": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Call a tool of any MCP server */
        post: operations["mcp.try_call"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/mcp/tools": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** The tools of any MCP server */
        post: operations["mcp.try_tools"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/modules": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The modules that were found */
        get: operations["host.list_modules"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/modules/{name}/disable": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Take a module out
         * @description Until the server starts again; the configuration stays as it is. Refused while a required module needs it.
         */
        post: operations["host.disable_module"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/modules/{name}/enable": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Load a module that is disabled
         * @description Until the server starts again; the configuration stays as it is. Needs a file in `modules.path`.
         */
        post: operations["host.enable_module"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/modules/{name}/reload": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Load a module's file anew
         * @description The new library is loaded beside the old one, created, migrated and started; then the routes change at once and the old one drains and ends. Modules that use it are made anew with it. Answers when the old ones have ended, which takes as long as what they still do, at most `reload.drain_seconds`. Whatever fails before the change leaves everything as it was.
         */
        post: operations["host.reload_module"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/nodes": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * The nodes of the deployment
         * @description All that share the database, as of their last sign of life. For admins.
         */
        get: operations["host.list_nodes"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/nodes/{id}/drain": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Ask a node to take no more jobs
         * @description It takes nothing more from the queue; within a second runs that are started there wait for another node, and within a quarter of `jobs.lease_seconds` its `/readyz` is 503. What it runs goes on, and it answers requests. A node that starts again takes jobs.
         */
        post: operations["host.drain_node"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/nodes/{id}/undrain": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Let a node take jobs again */
        post: operations["host.undrain_node"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/notifications": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** All notifications, newest first */
        get: operations["notifications.all"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/notifications/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** One notification with its deliveries */
        get: operations["notifications.one"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/notifications/{id}/cancel": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Call it off while it waits, or take it back from the orchestrator where that can */
        post: operations["notifications.cancel"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/notifications/{id}/requeue": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Try it again */
        post: operations["notifications.requeue"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/notifications/broadcasts": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Broadcasts, newest first */
        get: operations["notifications.broadcasts"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/notifications/broadcasts/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** One broadcast, with the number of its notifications by state */
        get: operations["notifications.broadcast"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/notifications/broadcasts/{id}/cancel": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Cancel a broadcast
         * @description What was not delivered yet is withdrawn, also e-mails in the outbox. Entries of inboxes stay.
         */
        post: operations["notifications.cancel_broadcast"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/notifications/broadcasts/{id}/pause": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Pause a broadcast
         * @description Nothing more of it is written or delivered, and its e-mails in the outbox wait.
         */
        post: operations["notifications.pause_broadcast"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/notifications/broadcasts/{id}/resume": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Continue a paused broadcast
         * @description The broadcast continues after the last notified account.
         */
        post: operations["notifications.resume_broadcast"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/notifications/trigger": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Tell somebody, or everybody
         * @description Exactly one of subscriber_id, subscriber_email and broadcast.
         */
        post: operations["notifications.trigger"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/queues": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * How much waits in each queue, and the nodes
         * @description Of all nodes together, as it is now. The same figures are in `/metrics`, some seconds old.
         */
        get: operations["host.queues"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/referrals": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Referrals that wait for a review */
        get: operations["referrals.flagged"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/referrals/{id}/flag": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Hold a referral back */
        post: operations["referrals.flag"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/referrals/{id}/release": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Let a referral that is held back count */
        post: operations["referrals.release"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/referrals/{id}/revoke": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Take a referral and its credits back */
        post: operations["referrals.revoke"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/referrals/codes/{code}/resume": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Let a suspended code count again */
        post: operations["referrals.resume"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/referrals/codes/{code}/suspend": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Let a code count no more */
        post: operations["referrals.suspend"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/runs": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Runs of all accounts, newest first
         * @description Without a filter: those that have not ended. With filters: all runs that match each of them. A parameter that does not exist is an error.
         */
        get: operations["runs.live"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/runs/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** One run of any account, with the causes of its failure */
        get: operations["runs.adminRun"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/webhooks": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Who is told of events, and how they fare */
        get: operations["webhooks.list"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/webhooks/{name}/enable": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Tells a receiver again that was disabled */
        post: operations["webhooks.enable"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/webhooks/{name}/test": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Sends a message of the type webhook.test */
        post: operations["webhooks.test"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/agent-run/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** One run */
        get: operations["runs.get"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/agent-run/{id}/status": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** One run */
        get: operations["runs.status"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/agent-run/{id}/stop": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Stop a run
         * @description Answers when it has ended, and how. A run that has ended stays as it is.
         */
        post: operations["runs.stop"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/agent-run/{id}/stream": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * What happens in a run, as it happens
         * @description Server-Sent Events: `id` is the event's number, `data` one of the schema Event. All from the first, or from the one after `Last-Event-ID`; live until the terminal event (`status` other than `running`), after which the server closes. A client that was cut off comes back with the last id and misses and repeats nothing. An id that no event of a live run has had yet counts as its present end; the first event is then a `gap` with all numbers up to there.
         */
        get: operations["runs.stream"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/agent-run/{id}/stream-token": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * A token for the run's stream
         * @description For a browser's EventSource, which cannot set headers. The token is valid for this stream for `expires_in` seconds: as long as a run may take, and ten minutes. A browser that reconnects later gets 401 and needs a new token.
         */
        post: operations["runs.stream_token"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/agent-runs": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The account's runs, newest first */
        get: operations["runs.list"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/agent-runs/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** One run (the same by its other name) */
        get: operations["runs.get_alias"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/agent-runs/{id}/status": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** One run (the same by its other name) */
        get: operations["runs.status_alias"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/agent-runs/{id}/stop": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Stop a run (the same by its other name)
         * @description Answers when it has ended, and how. A run that has ended stays as it is.
         */
        post: operations["runs.stop_alias"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/agent-runs/active": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The runs that have not ended */
        get: operations["runs.active"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/agent/start": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Start an agent run
         * @description Answers when the run is durable; its progress is in the stream. A new thread needs a prompt. With `Idempotency-Key` a repeat with the same fields answers the first run, with the header `Idempotency-Replayed`.
         */
        post: operations["runs.start"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/agents": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The account's agents, newest first */
        get: operations["agents.list"];
        put?: never;
        /** Make an agent */
        post: operations["agents.create"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/agents/{agent_id}/custom-mcp-tools": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * The tools of one MCP server
         * @description Asks the server, or answers what it said within the last day. A server that the agent has is asked with its stored headers unless `X-MCP-Headers` gives others; one of type `json` is named by its configuration's name, a command is never taken from a header.
         */
        get: operations["mcp.discover"];
        /** Replace the agent's MCP servers */
        put: operations["mcp.replace"];
        /**
         * Choose the tools of one MCP server
         * @description The server is added to the agent's when it is not among them.
         */
        post: operations["mcp.enable"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/agents/{agent_id}/custom-mcp-tools/changes": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Tools whose definitions changed
         * @description Enabled tools of servers with `on_tool_change` `ask` or `block` whose definition differs from the accepted one: the definition that runs saw first, or the one that was approved last. They cannot be called until the change is approved.
         */
        get: operations["mcp.changed_definitions"];
        put?: never;
        /** Approve the changed definition of a tool */
        post: operations["mcp.approve_definition"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/agents/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** One agent */
        get: operations["agents.get"];
        /**
         * Change an agent
         * @description What is named changes and makes a new version; what is left out or null stays. What GET shows may be sent back as it is. A masked value of `headers` or `env` keeps what is stored for the server of that name and type.
         */
        put: operations["agents.update"];
        post?: never;
        /** Remove an agent */
        delete: operations["agents.delete"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/agents/{id}/versions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** An agent's versions, newest first */
        get: operations["agents.versions"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api-keys": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The account's API keys */
        get: operations["accounts.list_keys"];
        put?: never;
        /**
         * Make an API key
         * @description Only this response contains the key. An e-mail announces it to the owner of the account. An API key cannot create keys. Over the limit of the plan: 409 `API_KEY_LIMIT_EXCEEDED`; too many within an hour: 429.
         */
        post: operations["accounts.create_key"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api-keys/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /** Revoke an API key */
        delete: operations["accounts.revoke_key"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/notifications/deliveries": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** What became of the caller's notifications, newest first (the same under /api) */
        get: operations["notifications.deliveries_alias"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/notifications/device-token": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Register a device for push (the same under /api) */
        post: operations["notifications.add_device_alias"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/notifications/device-token/{device_token}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /** Forget a device (the same under /api) */
        delete: operations["notifications.drop_device_alias"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/notifications/inbox": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The inbox, newest first (the same under /api) */
        get: operations["notifications.inbox_alias"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/notifications/inbox/{id}/read": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Mark one as read (the same under /api) */
        post: operations["notifications.read_alias"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/notifications/inbox/read-all": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Mark all as read (the same under /api) */
        post: operations["notifications.read_all_alias"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/notifications/inbox/stream": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The inbox as it changes (the same under /api) */
        get: operations["notifications.inbox_stream_alias"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/notifications/inbox/stream-token": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * A token for the inbox stream (the same under /api)
         * @description For a browser's EventSource, which cannot set headers.
         */
        post: operations["notifications.inbox_stream_token_alias"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/notifications/inbox/unread-count": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** How many were not read (the same under /api) */
        get: operations["notifications.unread_count_alias"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/notifications/preferences": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Quiet hours, and wishes for each workflow (the same under /api) */
        get: operations["notifications.preferences_alias"];
        /**
         * Change quiet hours and wishes (the same under /api)
         * @description Merged with what is there; null takes back.
         */
        put: operations["notifications.put_preferences_alias"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/notifications/settings": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Which channels the caller wants (the same under /api) */
        get: operations["notifications.settings_alias"];
        /**
         * Switch channels on and off (the same under /api)
         * @description What is left out stays.
         */
        put: operations["notifications.put_settings_alias"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/notifications/web-push-key": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The key with which pages subscribe to Web Push (the same under /api) */
        get: operations["notifications.web_push_key_alias"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/notifications/webhooks/{orchestrator}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** What the orchestrator tells (the same under /api) */
        post: operations["notifications.webhook_alias"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/presence/update": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * What the caller looks at (the same under /api)
         * @description Who looks at a thread is not told what happens in it.
         */
        post: operations["notifications.presence_alias"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/referrals/code": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The caller's code */
        get: operations["referrals.code"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/referrals/history": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The caller's referrals, newest first */
        get: operations["referrals.history"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/referrals/received": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * The referral through which the caller came
         * @description When the referred account receives its credits, and why they are delayed.
         */
        get: operations["referrals.received"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/referrals/refresh": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Another code in the place of the present one
         * @description Pending referrals of the old code are not credited.
         */
        post: operations["referrals.refresh"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/referrals/send": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Invite somebody by mail */
        post: operations["referrals.send"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/referrals/send-bulk": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Invite up to fifty people by mail */
        post: operations["referrals.send_bulk"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/referrals/stats": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** What the caller's referrals have earned */
        get: operations["referrals.stats"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/referrals/validate": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Is this somebody's code?
         * @description Also without a log-in, so that a sign-up page can ask. The caller's own code is not valid.
         */
        post: operations["referrals.validate"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/auth": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The page for logging in and signing up */
        get: operations["console.auth_page"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/auth/config": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** How one logs in here */
        get: operations["accounts.login_config"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/auth/log-in": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Log in */
        post: operations["accounts.log_in"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/auth/log-out": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * End this session
         * @description By the refresh token, the cookie, or the access token alone.
         */
        post: operations["accounts.log_out"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/auth/password": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Change the password */
        post: operations["accounts.change_password"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/auth/refresh": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * New tokens for a refresh token
         * @description A refresh token is valid for one use.
         */
        post: operations["accounts.refresh"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/auth/reset": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Forgotten password */
        post: operations["accounts.ask_for_reset"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/auth/reset/complete": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Set a new password with the link from an e-mail
         * @description All other sessions are ended and all API keys are revoked; an e-mail lists them.
         */
        post: operations["accounts.finish_reset"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/auth/sessions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The account's sessions */
        get: operations["accounts.list_sessions"];
        put?: never;
        post?: never;
        /**
         * End all sessions
         * @description API keys remain valid unless `revoke_api_keys` is true; an e-mail lists them.
         */
        delete: operations["accounts.end_sessions"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/auth/sessions/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /** End a session */
        delete: operations["accounts.end_session"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/auth/sign-up": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Sign up
         * @description The account is created when the link in the confirmation e-mail is opened; if the server does not verify addresses, at once (201).
         */
        post: operations["accounts.sign_up"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/auth/verify": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Open the link of a sign-up
         * @description Requires the proof from the response to the sign-up, or its password.
         */
        post: operations["accounts.verify"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/auth/webhooks/identity": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * What the identity provider tells of its users
         * @description Signed as in Standard Webhooks, within 300 s; each id counts once. A sender that cannot sign sends a secret in `X-Webhook-Token` instead. Types that are not known are logged. `user.deleted` deletes the account. Events of Clerk, hooks of Supabase Auth and database webhooks of Supabase are understood.
         */
        post: operations["accounts.identity_webhook"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/console": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The web page */
        get: operations["console.page"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/console/assets/{name}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** A file of the page */
        get: operations["console.asset"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/console/worker.js": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The page's service worker, for Web Push */
        get: operations["console.worker"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/healthz": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Does the process live?
         * @description Answers while the event loops turn, whatever the state of the database. For a liveness probe.
         */
        get: operations["host.healthz"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/mail/unsubscribe/{token}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * A page with a button
         * @description Nothing happens by a GET, because mail scanners open links.
         */
        get: operations["mail.ask_unsubscribe"];
        put?: never;
        /**
         * End mail of this kind to this address
         * @description RFC 8058; also what a mail program sends by itself. With the form field `undo`, mail of this kind comes again.
         */
        post: operations["mail.unsubscribe"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/mcp/oauth/callback": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Redirect URI of the authorization server
         * @description Completes the connection in the browser that confirmed it.
         */
        get: operations["mcp_prebuilt.callback"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/mcp/oauth/client": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * The client metadata document
         * @description For authorization servers that take its address as a client's id.
         */
        get: operations["mcp_prebuilt.client_document"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/mcp/oauth/connect": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Confirmation page of a connection
         * @description Opened by `connect_url`. The page names the MCP server, the account that gets access and the authorization server, and sets a cookie. Only the browser that confirms can complete the connection.
         */
        get: operations["mcp_prebuilt.ask_to_confirm"];
        put?: never;
        /** Confirm a connection */
        post: operations["mcp_prebuilt.confirm"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/mcp/profiles": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The account's profiles, and what can be had */
        get: operations["mcp_prebuilt.list"];
        put?: never;
        /**
         * Make a profile
         * @description Of something the operator offers (`integration`, `credentials`), or of a server of the account's own that wants OAuth (`url`, `oauth`).
         */
        post: operations["mcp_prebuilt.create"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/mcp/profiles/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /** Remove a profile and its tokens */
        delete: operations["mcp_prebuilt.delete"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/mcp/profiles/{id}/connect": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Create a link for the user's consent
         * @description The link is valid for one use and ten minutes, and until the next link is created. It opens the confirmation page of this server, or with `mcp_prebuilt.redirect_url` the authorization server.
         */
        post: operations["mcp_prebuilt.connect"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/metrics": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Figures for Prometheus */
        get: operations["host.metrics"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/notifications/deliveries": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** What became of the caller's notifications, newest first */
        get: operations["notifications.deliveries"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/notifications/device-token": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Register a device for push */
        post: operations["notifications.add_device"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/notifications/device-token/{device_token}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /** Forget a device */
        delete: operations["notifications.drop_device"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/notifications/inbox": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The inbox, newest first */
        get: operations["notifications.inbox"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/notifications/inbox/{id}/read": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Mark one as read */
        post: operations["notifications.read"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/notifications/inbox/read-all": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Mark all as read */
        post: operations["notifications.read_all"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/notifications/inbox/stream": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The inbox as it changes */
        get: operations["notifications.inbox_stream"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/notifications/inbox/stream-token": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * A token for the inbox stream
         * @description For a browser's EventSource, which cannot set headers.
         */
        post: operations["notifications.inbox_stream_token"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/notifications/inbox/unread-count": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** How many were not read */
        get: operations["notifications.unread_count"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/notifications/preferences": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Quiet hours, and wishes for each workflow */
        get: operations["notifications.preferences"];
        /**
         * Change quiet hours and wishes
         * @description Merged with what is there; null takes back.
         */
        put: operations["notifications.put_preferences"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/notifications/settings": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Which channels the caller wants */
        get: operations["notifications.settings"];
        /**
         * Switch channels on and off
         * @description What is left out stays.
         */
        put: operations["notifications.put_settings"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/notifications/web-push-key": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The key with which pages subscribe to Web Push */
        get: operations["notifications.web_push_key"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/notifications/webhooks/{orchestrator}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** What the orchestrator tells */
        post: operations["notifications.webhook"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/openapi.json": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * This document
         * @description It follows the modules; after one was reloaded, enabled or disabled it is another one.
         */
        get: operations["host.openapi"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/presence/update": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * What the caller looks at
         * @description Who looks at a thread is not told what happens in it.
         */
        post: operations["notifications.presence"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/projects/{id}/files": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** What lies in a directory of a project's workspace */
        get: operations["runs.files"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/projects/{id}/files/content": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * A file of a project's workspace
         * @description At most 16 MiB at once; of larger ones parts, by `offset` and `limit`.
         */
        get: operations["runs.file_content"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/readyz": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Can it serve?
         * @description For a load balancer. 503 names every reason, also while the server starts and while it drains.
         */
        get: operations["host.readyz"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/reference": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The reference of all operations */
        get: operations["console.reference"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/thread/{id}/agent-runs": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** A thread's runs, newest first */
        get: operations["runs.of_thread_alias"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/threads": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The account's threads, newest first */
        get: operations["runs.list_threads"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/threads/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** One thread */
        get: operations["runs.get_thread"];
        put?: never;
        post?: never;
        /**
         * Remove a thread and all of it
         * @description With the last thread of a project, its files are deleted too. Idempotency keys of its starts stay valid for 24 hours.
         */
        delete: operations["runs.delete_thread"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/threads/{id}/agent-runs": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** A thread's runs, newest first */
        get: operations["runs.of_thread"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/threads/{id}/messages": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** A thread's messages */
        get: operations["runs.messages"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
}
export type webhooks = Record<string, never>;
export interface components {
    schemas: {
        "accounts.Account": {
            /**
             * Format: uuid
             * @description The same
             */
            account_id: string;
            /** @description An exact decimal; 100 credits make a dollar */
            balance_credits: number;
            /** @description The same in millionths of a credit */
            balance_micro: number;
            /** Format: date-time */
            created_at: string;
            display_name: string | null;
            email: string | null;
            email_verified: boolean;
            /** Format: uuid */
            id: string;
            limits: {
                all_models: boolean;
                concurrent_runs: number;
                custom_mcps: number;
                models: string[];
                threads: number;
                upload_file_bytes: number;
                upload_files: number;
            };
            /** @enum {unknown} */
            role: "user" | "admin" | "super_admin";
            tier: string;
        };
        "accounts.ApiKey": {
            /** Format: date-time */
            created_at: string;
            /** Format: date-time */
            expires_at: string | null;
            id: string;
            /** Format: date-time */
            last_used_at: string | null;
            name: string;
        };
        "accounts.Balance": {
            /** Format: uuid */
            account_id: string;
            balance_credits: number;
            balance_micro: number;
            /** @description It was done before; nothing has moved */
            replayed: boolean;
        };
        "accounts.Entry": {
            /** Format: date-time */
            at: string;
            /** @description After it */
            balance_credits: number;
            balance_micro: number;
            delta_credits: number;
            delta_micro: number;
            id: number;
            kind: string;
            /** @description By the kind */
            note: unknown;
            ref: string;
        };
        "accounts.Refused": {
            detail: {
                balance_credits?: number;
                balance_micro?: number;
                /** @description What was moved under that key */
                credits?: number;
                /** @enum {unknown} */
                error_code: "IDEMPOTENCY_KEY_REUSED" | "BALANCE_TOO_LOW";
                message: string;
            };
        };
        "accounts.Tokens": {
            access_token: string;
            /** Format: uuid */
            account_id: string;
            email: string;
            /** @description Seconds */
            expires_in: number;
            /** @description Unless it is in the cookie */
            refresh_token?: string;
            /** @constant */
            token_type: "Bearer";
        };
        "agents.Agent": {
            /** Format: uuid */
            agent_id: string;
            /** @description MCP servers; values of `headers` and `env` are masked as `********` */
            custom_mcps: components["schemas"]["agents.Mcp"][];
            description: string;
            /** @description Used where no agent is named; an account has exactly one */
            is_default: boolean;
            /** @description null: the model of the deployment */
            model_name: string | null;
            name: string;
            system_prompt: string;
            /** Format: date-time */
            updated_at: string;
            version: number;
        };
        "agents.Change": {
            /** @description Taken as GET shows it and not looked at */
            agent_id?: unknown;
            /** @description Not looked at */
            created_at?: unknown;
            /** @description As the agent shows them; `custom_type` and `enabled_tools` are taken too */
            custom_mcps?: {
                [key: string]: unknown;
            }[] | null;
            description?: string | null;
            /** @description The change is refused with 409 when the agent has another version */
            expected_version?: number | null;
            is_default?: boolean | null;
            /** @description null: the model of the deployment */
            model_name?: string | null;
            name?: string | null;
            system_prompt?: string | null;
            /** @description Not looked at */
            updated_at?: unknown;
            /** @description Not looked at */
            version?: unknown;
        };
        "agents.Mcp": {
            /** @description `url` and `headers`, `profile_id`, or `command`, `args` and `env`, by the type; `reuse`, `session`, `revision`, `tasks`, `timeout_seconds`, `instructions`, `resources`, `on_tool_change` */
            config: {
                [key: string]: unknown;
            };
            /** @description The name of another transport */
            customType?: string;
            enabledTools: string[];
            /** @description Display name */
            name: string;
            /** @enum {unknown} */
            type: "http" | "sse" | "prebuilt" | "composio" | "json";
        };
        "agents.New": {
            /** @description Not looked at */
            agent_id?: unknown;
            /** @description Not looked at */
            created_at?: unknown;
            custom_mcps?: {
                [key: string]: unknown;
            }[] | null;
            description?: string | null;
            /** @description Not looked at */
            expected_version?: unknown;
            /** @description In the place of the present default agent */
            is_default?: boolean | null;
            model_name?: string | null;
            name: string;
            system_prompt?: string | null;
            /** @description Not looked at */
            updated_at?: unknown;
            /** @description Not looked at */
            version?: unknown;
        };
        /** @description For the next page; null on the last one */
        "agents.NextCursor": string | null;
        "agents.TooManyServers": {
            detail: {
                current_count: number;
                /** @enum {unknown} */
                error_code: "CUSTOM_WORKER_LIMIT_EXCEEDED" | "AGENT_LIMIT_EXCEEDED";
                limit: number;
                message: string;
                tier_name: string;
            };
        };
        "agents.Version": {
            /** Format: uuid */
            agent_id: string;
            /** Format: date-time */
            created_at: string;
            custom_mcps: components["schemas"]["agents.Mcp"][];
            description: string;
            is_current: boolean;
            model_name: string | null;
            name: string;
            system_prompt: string;
            version: number;
        };
        /** @description The body of every error */
        "host.Error": {
            /** @description A sentence, or an object with at least a message */
            detail: string | ({
                message: string;
            } & {
                [key: string]: unknown;
            });
        };
        "host.Health": {
            /** @constant */
            status: "ok";
        };
        "host.Jobs": {
            jobs: {
                attempts: number;
                /** @description Attempts whose node vanished */
                crashes: number;
                /** Format: date-time */
                enqueued_at: string;
                id: number;
                kind: string;
                last_error: string | null;
                max_attempts: number;
                /**
                 * Format: uuid
                 * @description Which works on it
                 */
                node: string | null;
                queue: string;
                /**
                 * Format: date-time
                 * @description Not before; of one that is dead, when it was given up
                 */
                run_at: string;
            }[];
            next_cursor: string | null;
        };
        "host.LeftModule": {
            generation: number;
            module: string;
            /** @enum {unknown} */
            outcome: "unloaded" | "ended (still mapped)" | "retired (still mapped)";
            /** @description Why it would not end */
            reason?: string;
            version: string;
        };
        "host.Module": {
            abi_major: number;
            abi_minor: number;
            consumers: components["schemas"]["host.Names"];
            drivers: {
                name: string;
                point: string;
            }[];
            file: string;
            flags: number;
            /** @description Which library of it this is, counted over all modules; 0 while none lives */
            generation: number;
            jobs: components["schemas"]["host.Names"];
            last_strike?: string;
            /** @description Generations of it that were replaced or taken out and stay in memory: the latest ten */
            left?: components["schemas"]["host.LeftModule"][];
            migrations: components["schemas"]["host.Names"];
            min_host_minor: number;
            name: string;
            needs: {
                id: string;
                min_size: number;
                optional: boolean;
            }[];
            /** @description What it has begun and not ended */
            outstanding: number;
            points: components["schemas"]["host.Names"];
            provides: components["schemas"]["host.Names"];
            /** @description Why it is refused or retired */
            reason?: string;
            /** @description The server does not start without it */
            required: boolean;
            routes: components["schemas"]["host.Names"];
            services: components["schemas"]["host.Names"];
            /** @description JSON Schema of its settings */
            settings_schema: {
                [key: string]: unknown;
            } | null;
            sha256: string;
            /** @description Callbacks that held an event loop for longer than 50 ms */
            slow_callbacks: number;
            /** @enum {unknown} */
            state: "disabled" | "refused" | "created" | "started" | "stopped" | "retired";
            /** @description Exceptions that left a callback, and wrong uses of the tables of the host */
            strikes: number;
            version: string;
        };
        "host.ModuleChange": {
            /** @enum {unknown} */
            change: "reload" | "enable" | "disable";
            /** @description Requests that did not end in time */
            cut_requests: number;
            left: components["schemas"]["host.LeftModule"][];
            module: string;
            /** @description New libraries that serve now; those of modules that depend on it are among them */
            started: {
                generation: number;
                module: string;
                version: string;
            }[];
            swap_ms: number;
            total_ms: number;
        };
        "host.Names": string[];
        "host.Node": {
            /** Format: uuid */
            id: string;
            /** Format: date-time */
            lease_until: string;
            /** @description Of its machine */
            name: string;
            /** @description Jobs, runs among them */
            running: number;
            /** Format: date-time */
            started_at: string;
            /**
             * @description `silent`: its lease is over, the others take its jobs
             * @enum {unknown}
             */
            state: "active" | "draining" | "silent";
            /** @description It is the one that answers */
            this: boolean;
            /** @description `jobs.weight` */
            weight: number;
        };
        "host.NodeChange": {
            /** Format: uuid */
            id: string;
            running: number;
            /** @enum {unknown} */
            state: "active" | "draining";
        };
        "host.Queues": {
            nodes: {
                /** Format: uuid */
                id: string;
                /** @description Jobs that it works on */
                running: number;
                /** Format: date-time */
                started_at: string;
                /** @description The one that answers */
                this: boolean;
            }[];
            queues: {
                /** @description Given up after the last attempt */
                dead: number;
                oldest_ready_seconds: number;
                queue: string;
                /** @description Nobody has taken them yet */
                ready: number;
                running: number;
                /** @description For later, or waiting for the next attempt */
                scheduled: number;
            }[];
        };
        "host.Readiness": {
            /** @description What is amiss and keeps nobody from being served; absent when nothing is */
            degraded?: components["schemas"]["host.Trouble"][];
            reasons: components["schemas"]["host.Trouble"][];
            /** @enum {unknown} */
            status: "ready" | "not_ready";
        };
        "host.Trouble": {
            message: string;
            /** @description A part of the host, or a module */
            room: string;
        };
        "mcp_prebuilt.Profile": {
            /** @description There where OAuth is wanted */
            connected?: boolean;
            display_name: string;
            integration: string | null;
            /** Format: uuid */
            profile_id: string;
            url?: string;
        };
        "mcp.Call": {
            arguments?: {
                [key: string]: unknown;
            };
            config: components["schemas"]["mcp.Config"];
            tool: string;
            type: string;
        };
        /** @description By the type */
        "mcp.Config": {
            args?: string[] | null;
            /** @description json */
            command?: string;
            env?: {
                [key: string]: unknown;
            } | null;
            headers?: {
                [key: string]: unknown;
            } | null;
            /**
             * @description The server's instructions go into the system prompt
             * @default true
             */
            instructions: boolean | null;
            /**
             * @description What happens when the server changes the definition of an enabled tool. `log`: the change is logged. `ask`: calls fail until the change is approved. `block`: the tool is not offered until the change is approved
             * @default log
             * @enum {unknown}
             */
            on_tool_change: "log" | "ask" | "block" | null;
            /** @description prebuilt */
            profile_id?: string;
            /** @description Whether runs can list and read the server's resources. Default: if a tool of the server is enabled */
            resources?: boolean | null;
            /** @description Keep connections for later calls */
            reuse?: boolean | null;
            /**
             * @description Protocol revision; `auto`: detected
             * @default auto
             * @enum {unknown}
             */
            revision: "auto" | "2026-07-28" | "2025-11-25" | "2025-06-18" | "2025-03-26" | "2024-11-05" | "2024-10-07" | null;
            /**
             * @description Scope of a session with the server: one call, all calls of a run, or all calls of a thread. Default: `run` if the server keeps a session, else `call`
             * @enum {unknown}
             */
            session?: "call" | "run" | "thread" | null;
            /** @description How long a tool call may take without a result or increasing progress */
            timeout_seconds?: number | null;
            /** @description http and sse */
            url?: string;
        } & {
            [key: string]: unknown;
        };
        "mcp.Names": string[];
        "mcp.Question": {
            config: components["schemas"]["mcp.Config"];
            type: string;
        };
        "mcp.Server": {
            config: components["schemas"]["mcp.Config"];
            customType?: string;
            enabledTools: components["schemas"]["mcp.Names"];
            name: string;
            type: string;
        };
        "mcp.ServerFailed": {
            detail: {
                /** @enum {unknown} */
                error_code: "MCP_CONNECT_FAILED" | "MCP_PROTOCOL_ERROR" | "MCP_TIMEOUT";
                /** @description Names the server and the cause */
                message: string;
            } | string;
        };
        "mcp.ServerIn": {
            config: components["schemas"]["mcp.Config"];
            customType?: string | null;
            enabledTools?: components["schemas"]["mcp.Names"];
            name: string;
            type: string;
        };
        "mcp.TooManyServers": {
            detail: {
                current_count: number;
                /** @constant */
                error_code: "CUSTOM_WORKER_LIMIT_EXCEEDED";
                limit: number;
                message: string;
                tier_name: string;
            };
        };
        /**
         * @default sse
         * @enum {unknown}
         */
        "mcp.Type": "http" | "sse" | "prebuilt" | "composio" | "json";
        /** @description Accounts, and those that the broadcast would reach on each channel by their settings */
        "notifications.Audience": {
            accounts: number;
            email: number;
            in_app: number;
            push: number;
        };
        "notifications.Broadcast": {
            /** Format: date-time */
            created_at: string;
            created_by: string;
            /** Format: date-time */
            ended_at: string | null;
            /** Format: uuid */
            id: string;
            /** @description By state */
            notifications?: {
                [key: string]: number;
            };
            payload_template: {
                [key: string]: unknown;
            };
            /** Format: date-time */
            scheduled_at: string | null;
            /** Format: date-time */
            started_at: string | null;
            /** @enum {unknown} */
            status: "scheduled" | "running" | "paused" | "cancelled" | "completed";
            workflow_id: string;
            /** @description Accounts for which a notification was written */
            written: number;
        };
        "notifications.Delivery": {
            /** Format: date-time */
            at: string;
            /** @enum {unknown} */
            channel: "email" | "push" | "in_app" | null;
            detail: string | null;
            /** Format: uuid */
            notification_id: string;
            provider: string | null;
            status: string;
            workflow_id: string;
        };
        "notifications.Entry": {
            action_url: string | null;
            body: string;
            /** Format: date-time */
            created_at: string;
            /** Format: uuid */
            id: string;
            payload: {
                [key: string]: unknown;
            };
            read: boolean;
            /** Format: date-time */
            read_at: string | null;
            title: string;
            workflow_id: string;
        };
        "notifications.InboxEvent": {
            notification: components["schemas"]["notifications.Entry"];
            /** @constant */
            type: "notification";
            unread_count: number;
        } | {
            /** @constant */
            type: "unread_count";
            unread_count: number;
        } | {
            /** @constant */
            type: "ping";
        };
        "notifications.Notification": {
            /** Format: uuid */
            account_id: string;
            attempts: number;
            /** Format: date-time */
            created_at: string;
            deliveries?: components["schemas"]["notifications.Delivery"][];
            /** Format: date-time */
            ended_at: string | null;
            /** Format: date-time */
            expires_at: string | null;
            /** Format: uuid */
            id: string;
            maybe_duplicate: boolean;
            payload?: {
                [key: string]: unknown;
            };
            pending: string[];
            reason: string | null;
            /** @enum {unknown} */
            status: "queued" | "gathered" | "sent" | "suppressed" | "failed" | "dead" | "cancelled";
            transaction_id: string;
            workflow_id: string;
        };
        "notifications.Preferences": {
            quiet_hours: {
                from: string;
                to: string;
            } | null;
            time_zone: string;
            workflows: {
                [key: string]: components["schemas"]["notifications.Wish"];
            };
        };
        "notifications.Settings": {
            /** Format: uuid */
            account_id: string;
            email_enabled: boolean;
            in_app_enabled: boolean;
            push_enabled: boolean;
        };
        "notifications.Wish": {
            digest_minutes: number;
            email: boolean;
            in_app: boolean;
            /** @description Wishes do not count */
            mandatory: boolean;
            /** @description Absent: notifications.task_email_minutes of the server */
            min_minutes?: number;
            push: boolean;
            /** @description Waits for no quiet hours */
            urgent: boolean;
        };
        "referrals.Referral": {
            /** @description 0 while it is pending */
            credits_awarded: number;
            /** Format: uuid */
            id: string;
            /** @description The same as a sentence */
            message: string | null;
            /**
             * @description Why it has not earned
             * @enum {unknown}
             */
            reason: "not_qualified" | "on_hold" | "under_review" | "code_suspended" | "cap_reached" | "code_refreshed" | "self_referral" | "disposable_address" | "same_mailbox" | "account_deleted" | "revoked" | null;
            referral_code: string;
            /** Format: uuid */
            referred_account_id: string;
            /** Format: date-time */
            referred_at: string;
            /** Format: uuid */
            referrer_id: string;
            /** @enum {unknown} */
            status: "pending" | "successful";
        };
        "referrals.Sent": {
            /** @description What became of it */
            message: string;
            success: boolean;
        };
        /** @description Text of the answer */
        "runs.Chunk": {
            content: string;
            /** @description Merged: the first of them */
            from_sequence?: number;
            sequence: number;
            /** @constant */
            type: "llm_response_chunk";
        };
        /** @description Older messages became a summary for the model */
        "runs.Compacted": {
            credits: number;
            messages: number;
            model: string;
            sequence: number;
            step: number;
            /** @constant */
            type: "context_compacted";
            usage: components["schemas"]["runs.Usage"];
        };
        /** @description This server stops; come back with the last id; without a number */
        "runs.Draining": {
            /** @constant */
            type: "server_draining";
        };
        /** @description One event of a run's stream */
        "runs.Event": components["schemas"]["runs.Running"] | components["schemas"]["runs.Queued"] | components["schemas"]["runs.ResponseStart"] | components["schemas"]["runs.Chunk"] | components["schemas"]["runs.ReasoningChunk"] | components["schemas"]["runs.ResponseEnd"] | components["schemas"]["runs.TurnAborted"] | components["schemas"]["runs.MessageEvent"] | components["schemas"]["runs.ToolCall"] | components["schemas"]["runs.ToolOutput"] | components["schemas"]["runs.ToolProgress"] | components["schemas"]["runs.ToolResult"] | components["schemas"]["runs.RunError"] | components["schemas"]["runs.Notice"] | components["schemas"]["runs.Compacted"] | components["schemas"]["runs.Gap"] | components["schemas"]["runs.Snapshot"] | components["schemas"]["runs.Ping"] | components["schemas"]["runs.Draining"];
        "runs.File": {
            /** @enum {unknown} */
            kind: "file" | "dir" | "link" | "other";
            /** @description Microseconds since 1970 */
            modified_unix_us: number;
            name: string;
            size: number;
        };
        /** @description true, false, 1, 0 or empty, in any case */
        "runs.Flag": string;
        /** @description These numbers do not come on this stream: their events were deleted, or the client asked for events after a number that the run has not reached */
        "runs.Gap": {
            from: number;
            sequence: number;
            to: number;
            /** @constant */
            type: "gap";
        };
        "runs.Message": {
            /** Format: uuid */
            agent_run_id: string;
            /** @description A text or parts of several kinds */
            content: unknown;
            /** Format: date-time */
            created_at: string;
            /**
             * @description Set if the model did not finish the answer. After `length` and `pause` the next assistant message continues this one
             * @enum {unknown}
             */
            finish?: "length" | "pause" | "content_filter" | "refusal";
            is_error?: boolean;
            /** @description In a result of find_tools: the found tools, which later requests contain */
            loaded_tools?: string[];
            /** Format: uuid */
            message_id: string;
            name?: string;
            /** @enum {unknown} */
            role: "user" | "assistant" | "tool";
            /** Format: uuid */
            thread_id: string;
            tool_call_id?: string;
            tool_calls?: {
                arguments: unknown;
                id: string;
                name: string;
            }[];
        };
        /** @description A message was added to the thread */
        "runs.MessageEvent": {
            content: string;
            /** Format: uuid */
            message_id: string;
            role: string;
            sequence: number;
            /** @constant */
            type: "message";
        };
        "runs.NotAllowed": {
            detail: {
                current_count?: number;
                /** @enum {unknown} */
                error_code: "INSUFFICIENT_CREDITS" | "MODEL_ACCESS_DENIED" | "AGENT_RUN_LIMIT_EXCEEDED" | "THREAD_LIMIT_EXCEEDED";
                limit?: number;
                message: string;
                running_count?: number;
                running_thread_ids?: string[];
                tier_name?: string;
            };
        };
        /** @description Part of a request was left out or changed to meet the provider's limits; the run continues */
        "runs.Notice": {
            /** @description `tool_skipped`, `image_skipped`, `parameter_skipped`, `tool_search` (requests contain only some of the tools, and find_tools to find the others), `workspace_withheld` (`memory_enabled` is false, and another thread has used the workspace), or another code of a driver */
            code: string;
            message: string;
            sequence: number;
            /** @constant */
            type: "notice";
        };
        /** @description Nothing happened for a while; without a number */
        "runs.Ping": {
            /** @constant */
            type: "ping";
        };
        /** @description It waits; its place */
        "runs.Queued": {
            position: number;
            sequence: number;
            /** @constant */
            type: "queued";
        };
        /**
         * @description Why a run ended. `length`: the answer was truncated at the model's output limit, even after it was continued; `content_filter`: the provider withheld the answer; `refusal`: the model declined to answer; `no_answer`: the model gave an empty answer twice
         * @enum {unknown}
         */
        "runs.Reason": "ok" | "user_stop" | "timeout" | "step_limit" | "budget" | "credits" | "llm_error" | "tool_error" | "crashed" | "length" | "content_filter" | "refusal" | "no_answer";
        /** @description What a model thinks aloud */
        "runs.ReasoningChunk": {
            content: string;
            from_sequence?: number;
            sequence: number;
            /** @constant */
            type: "reasoning_chunk";
        };
        /** @description An answer of the model has ended. After `length` and `pause` the text continues with the chunks of the next answer */
        "runs.ResponseEnd": {
            credits: number;
            /**
             * @description How the answer ended; absent if the run was stopped before
             * @enum {unknown}
             */
            finish?: "stop" | "tool_calls" | "length" | "content_filter" | "refusal" | "pause" | "error";
            sequence: number;
            step: number;
            /** @constant */
            type: "llm_response_end";
            usage: components["schemas"]["runs.Usage"];
        };
        /** @description A model begins to answer; what an earlier attempt of this step said does not count */
        "runs.ResponseStart": {
            attempt: number;
            model: string;
            sequence: number;
            step: number;
            /** @constant */
            type: "llm_response_start";
        };
        "runs.Run": {
            /** Format: uuid */
            agent_id: string | null;
            /**
             * Format: uuid
             * @description The same
             */
            agent_run_id: string;
            /** Format: date-time */
            completed_at: string | null;
            duration_ms: number | null;
            error: string | null;
            error_code: string | null;
            /** Format: uuid */
            id: string;
            memory_enabled: boolean;
            /** @description `agent`, `chat` or `code` */
            mode: string;
            model_name: string | null;
            /** Format: uuid */
            project_id: string;
            /** @description While it waits */
            queue_position: number | null;
            queue_wait_ms: number | null;
            /** @description Null while the run is active */
            reason: components["schemas"]["runs.Reason"] | null;
            /** Format: date-time */
            started_at: string;
            status: components["schemas"]["runs.Status"];
            /** Format: uuid */
            thread_id: string;
            /** @description Null if no text was streamed yet, or if a worker that streamed the first text ended before it was recorded when */
            time_to_first_token_ms: number | null;
            usage: {
                /** @description Absent if 0 */
                cache_write_tokens?: number;
                cached_tokens: number;
                /** @description An exact decimal */
                credits: number;
                input_tokens: number;
                output_tokens: number;
            };
        };
        /** @description Something went wrong; `recoverable`: the run goes on */
        "runs.RunError": {
            error_code: string;
            message: string;
            recoverable: boolean;
            sequence: number;
            /** @constant */
            type: "error";
        };
        /** @description How the run stands; any status but `running` is the end of the stream */
        "runs.Running": {
            credits?: number;
            duration_ms?: number;
            error?: string;
            error_code?: string;
            queue_wait_ms?: number | null;
            reason?: components["schemas"]["runs.Reason"];
            sequence: number;
            status: components["schemas"]["runs.Status"];
            time_to_first_token_ms?: number | null;
            tokens?: number;
            /** @constant */
            type: "status";
            usage?: components["schemas"]["runs.Usage"];
        };
        /** @description With `mode=snapshot`: everything up to its number */
        "runs.Snapshot": {
            aborted: {
                [key: string]: unknown;
            }[];
            content: string;
            events: {
                [key: string]: unknown;
            }[];
            from_sequence: number;
            message_ids: string[];
            open_turn: {
                [key: string]: unknown;
            } | null;
            reasoning: string;
            sequence: number;
            status: string;
            to_sequence: number;
            tool_calls: {
                [key: string]: unknown;
            }[];
            /** @constant */
            type: "snapshot";
        };
        "runs.Started": {
            /** Format: uuid */
            agent_run_id: string;
            /** Format: uuid */
            project_id: string;
            /** @description When it waits */
            queue_position?: number;
            /**
             * Format: uuid
             * @description When files were sent or the project has a sandbox
             */
            sandbox_id?: string;
            /** @constant */
            status: "running";
            /** Format: uuid */
            thread_id: string;
            timing_breakdown?: {
                setup_ms: number;
            };
        };
        "runs.StartForm": {
            /** @description Else the default agent */
            agent_id?: string;
            /** @description Credits that the run may cost; at most six digits after the point */
            budget_credits?: string;
            /** @description In any case */
            budget_policy?: ("" | "hard" | "soft" | "finish_turn") | string;
            /** @description Put under `/workspace/uploads`; the part may be repeated */
            files?: string[];
            /** @description Limit of one model answer, 1 to 10000000 */
            max_output_tokens?: string;
            /** @description `false`: the agent gets nothing from outside the thread. It cannot use the workspace if another thread has used it. Default: true */
            memory_enabled?: components["schemas"]["runs.Flag"];
            /** @description In any case. `agent` (default): with tools. `chat`: without tools. `code`: with tools and instructions for working on software */
            mode?: ("" | "agent" | "chat" | "code") | string;
            /** @description An alias, or `<provider>/<model>` */
            model_name?: string;
            /** @description When the thread has a run; in any case */
            on_busy?: ("" | "reject" | "enqueue" | "interrupt") | string;
            /** @description `thread_id` and `project_id` are the client's */
            optimistic?: components["schemas"]["runs.Flag"];
            project_id?: string;
            /** @description Needed for a new thread */
            prompt?: string;
            /** @description At the limit of concurrent runs wait for a slot */
            queue?: components["schemas"]["runs.Flag"];
            /** @description In any case */
            reasoning_effort?: ("" | "none" | "minimal" | "low" | "medium" | "high") | string;
            /** @description 0 to 2. Default: the value configured for the model, else the provider's default */
            temperature?: string;
            /** @description A thread to go on with; with `optimistic` also one to be made under this id */
            thread_id?: string;
            /** @description `auto`, `none`, `required` or `{"name":"<tool>"}`; the last two apply only to the first answer of the run */
            tool_choice?: string;
            /** @description 0 to 1 */
            top_p?: string;
        };
        /** @enum {unknown} */
        "runs.Status": "running" | "completed" | "failed" | "stopped";
        "runs.Thread": {
            /**
             * Format: uuid
             * @description Agent of the latest run. A start without `agent_id` uses the default agent, also on an existing thread; send this to continue with the same agent
             */
            agent_id: string | null;
            /** Format: date-time */
            created_at: string;
            latest_run: {
                /** Format: uuid */
                agent_id: string;
                /** Format: uuid */
                agent_run_id: string;
                memory_enabled: boolean;
                /** @description `agent`, `chat` or `code` */
                mode: string;
                model_name: string;
                status: components["schemas"]["runs.Status"];
            } | null;
            /** @description Model of the latest run */
            model_name: string | null;
            /** Format: uuid */
            project_id: string;
            /** Format: uuid */
            thread_id: string;
            title: string | null;
        };
        /** @description The agent calls a tool */
        "runs.ToolCall": {
            arguments: unknown;
            name: string;
            sequence: number;
            source: string;
            tool_call_id: string;
            /** @constant */
            type: "tool_call";
        };
        /** @description Output of a tool while it runs */
        "runs.ToolOutput": {
            content: string;
            from_sequence?: number;
            sequence: number;
            tool_call_id: string;
            /** @constant */
            type: "tool_output_chunk";
        };
        /** @description Progress of a tool call, reported by the tool source, such as `3/10: step` or the status of a task of an MCP server. The same text follows as `tool_output_chunk` */
        "runs.ToolProgress": {
            message: string;
            sequence: number;
            tool_call_id: string;
            /** @constant */
            type: "tool_progress";
        };
        /** @description What a tool answered */
        "runs.ToolResult": {
            content: string;
            is_error: boolean;
            name: string;
            sequence: number;
            tool_call_id: string;
            /** @constant */
            type: "tool_result";
        };
        /** @description The events of this range are void: discard their content. The usage of the failed attempt is reported, but not charged */
        "runs.TurnAborted": {
            attempt: number;
            credits?: number;
            from_sequence: number;
            sequence: number;
            step: number;
            to_sequence: number;
            /** @constant */
            type: "turn_aborted";
            usage?: components["schemas"]["runs.Usage"];
        };
        "runs.Usage": {
            /** @description Written to the provider's cache; part of the input. Absent if 0 */
            cache_write_tokens?: number;
            /** @description Read from the provider's cache; part of the input */
            cached_tokens: number;
            input_tokens: number;
            output_tokens: number;
        };
        "webhooks.Endpoint": {
            delivered: number;
            /**
             * Format: date-time
             * @description Nothing is sent from here on
             */
            disabled_at: string | null;
            events: string[];
            /** Format: date-time */
            failing_since: string | null;
            last_error: string | null;
            /** Format: date-time */
            last_success_at: string | null;
            name: string;
            /** @description Without its query */
            url: string;
        };
    };
    responses: {
        /** @description The account */
        "accounts.Account": {
            headers: {
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "id": "0191f2c0-7d5a-7b7e-9d2b-3c1f5a0e4b11",
                 *       "account_id": "0191f2c0-7d5a-7b7e-9d2b-3c1f5a0e4b11",
                 *       "email": "ann@example.org",
                 *       "display_name": "Ann",
                 *       "tier": "free",
                 *       "role": "user",
                 *       "balance_credits": 499.9958,
                 *       "balance_micro": 499995800,
                 *       "email_verified": true,
                 *       "created_at": "2026-11-20T09:30:00.000Z",
                 *       "limits": {
                 *         "concurrent_runs": 1,
                 *         "threads": 10,
                 *         "custom_mcps": 1,
                 *         "upload_file_bytes": 10485760,
                 *         "upload_files": 10,
                 *         "all_models": false,
                 *         "models": [
                 *           "runyard/basic"
                 *         ]
                 *       }
                 *     }
                 */
                "application/json": components["schemas"]["accounts.Account"];
            };
        };
        /** @description The link is unknown, used or too old */
        "accounts.LinkNotValid": {
            headers: {
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "detail": {
                 *         "message": "This link is not valid any more",
                 *         "error_code": "LINK_NOT_VALID"
                 *       }
                 *     }
                 */
                "application/json": components["schemas"]["host.Error"];
            };
        };
        /** @description Not by an API key */
        "accounts.NeedsToken": {
            headers: {
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "detail": "An API key may not create or revoke API keys"
                 *     }
                 */
                "application/json": components["schemas"]["host.Error"];
            };
        };
        /** @description Logged in */
        "accounts.Tokens": {
            headers: {
                /** @description With `session=cookie` */
                "Set-Cookie"?: string;
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "access_token": "eyJhbGciOiJIUzI1NiJ9.e30.c2ln",
                 *       "token_type": "Bearer",
                 *       "expires_in": 900,
                 *       "refresh_token": "cmVmcmVzaA",
                 *       "account_id": "0191f2c0-7d5a-7b7e-9d2b-3c1f5a0e4b11",
                 *       "email": "ann@example.org"
                 *     }
                 */
                "application/json": components["schemas"]["accounts.Tokens"];
            };
        };
        /** @description Not with this password or by this caller */
        "accounts.Wrong": {
            headers: {
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "detail": {
                 *         "message": "E-mail address or password is wrong",
                 *         "error_code": "WRONG_LOGIN"
                 *       }
                 *     }
                 */
                "application/json": components["schemas"]["host.Error"];
            };
        };
        /** @description `custom_mcps` adds a server, and this deployment offers none */
        "agents.NoServers": {
            headers: {
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "detail": "MCP integrations are not enabled"
                 *     }
                 */
                "application/json": components["schemas"]["host.Error"];
            };
        };
        /** @description More agents or MCP servers than the plan allows */
        "agents.TooManyServers": {
            headers: {
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "detail": {
                 *         "message": "You have reached the limit of 1 custom MCP servers of your plan",
                 *         "current_count": 1,
                 *         "limit": 1,
                 *         "tier_name": "free",
                 *         "error_code": "CUSTOM_WORKER_LIMIT_EXCEEDED"
                 *       }
                 *     }
                 */
                "application/json": components["schemas"]["agents.TooManyServers"];
            };
        };
        /** @description No such agent of this account */
        "agents.Unknown": {
            headers: {
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "detail": "Worker not found"
                 *     }
                 */
                "application/json": components["schemas"]["host.Error"];
            };
        };
        /** @description The request is not as described */
        "host.BadRequest": {
            headers: {
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "detail": "limit must be between 1 and 100"
                 *     }
                 */
                "application/json": components["schemas"]["host.Error"];
            };
        };
        /** @description The body arrived too slowly or took too long */
        "host.BodyTooSlow": {
            headers: {
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "detail": "Request body too slow"
                 *     }
                 */
                "application/json": components["schemas"]["host.Error"];
            };
        };
        /** @description Not in the present state */
        "host.Conflict": {
            headers: {
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "detail": "Another change of modules is under way"
                 *     }
                 */
                "application/json": components["schemas"]["host.Error"];
            };
        };
        /** @description It is done */
        "host.Done": {
            headers: {
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "status": "done"
                 *     }
                 */
                "application/json": {
                    /** @constant */
                    status: "done";
                };
            };
        };
        /** @description Only for admins */
        "host.Forbidden": {
            headers: {
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "detail": "Forbidden"
                 *     }
                 */
                "application/json": components["schemas"]["host.Error"];
            };
        };
        /** @description In local mode, and where `http.public_url` is set: the `Host` is not a name of the server (`HOST_NOT_ALLOWED`), or a page of another origin sent a change (`ORIGIN_NOT_ALLOWED`) */
        "host.ForeignSite": {
            headers: {
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "detail": {
                 *         "message": "Pages of this origin may not change anything here. The server's operator can add it to http.cors.origins",
                 *         "error_code": "ORIGIN_NOT_ALLOWED"
                 *       }
                 *     }
                 */
                "application/json": components["schemas"]["host.Error"];
            };
        };
        /** @description A fault of the server; the log has the reason under the request id */
        "host.InternalError": {
            headers: {
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "detail": "Internal server error"
                 *     }
                 */
                "application/json": components["schemas"]["host.Error"];
            };
        };
        /** @description No token, or one that is not valid */
        "host.NotAuthenticated": {
            headers: {
                "WWW-Authenticate"?: "Bearer";
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "detail": "Not authenticated"
                 *     }
                 */
                "application/json": components["schemas"]["host.Error"];
            };
        };
        /** @description There is no such thing, or it is of another account */
        "host.NotFound": {
            headers: {
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "detail": "Not Found"
                 *     }
                 */
                "application/json": components["schemas"]["host.Error"];
            };
        };
        /** @description It took too long */
        "host.TimedOut": {
            headers: {
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "detail": "The request took too long"
                 *     }
                 */
                "application/json": components["schemas"]["host.Error"];
            };
        };
        /** @description The body is larger than this route takes */
        "host.TooLarge": {
            headers: {
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "detail": "Request body too large"
                 *     }
                 */
                "application/json": components["schemas"]["host.Error"];
            };
        };
        /** @description Too many requests or event streams, or too many (`UPLOAD_LIMIT`) or too large (`UPLOAD_SPACE_LIMIT`) uploads of this caller in progress; retry after `Retry-After` */
        "host.TooManyRequests": {
            headers: {
                /** @description How many may come at once; on every answer while a limit is set */
                "RateLimit-Limit"?: string;
                /** @description How many would be taken now */
                "RateLimit-Remaining"?: string;
                /** @description Seconds until all of them would be */
                "RateLimit-Reset"?: string;
                /** @description Seconds */
                "Retry-After"?: string;
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "detail": "Too many requests"
                 *     }
                 */
                "application/json": components["schemas"]["host.Error"];
            };
        };
        /** @description The server is stopping, has no database, or is busy: connections (`CONNECTION_LIMIT`), unread responses (`RESPONSE_BUFFER_LIMIT`) or uploads (`UPLOAD_LIMIT`, `UPLOAD_SPACE_LIMIT`) have reached their limit; retry after `Retry-After` */
        "host.Unavailable": {
            headers: {
                /** @description Seconds */
                "Retry-After"?: string;
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "detail": "The server is stopping"
                 *     }
                 */
                "application/json": components["schemas"]["host.Error"];
            };
        };
        /** @description A value is not valid; the sentence names its field */
        "host.Unprocessable": {
            headers: {
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "detail": "name must have 1 to 100 bytes"
                 *     }
                 */
                "application/json": components["schemas"]["host.Error"];
            };
        };
        /** @description The body is of another type than this route takes */
        "host.UnsupportedMediaType": {
            headers: {
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "detail": "The body must be sent as application/json"
                 *     }
                 */
                "application/json": components["schemas"]["host.Error"];
            };
        };
        /** @description Not on this server */
        "mcp_prebuilt.Disabled": {
            headers: {
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "detail": "MCP integrations are not enabled"
                 *     }
                 */
                "application/json": components["schemas"]["host.Error"];
            };
        };
        /** @description The authorization server failed or took too long */
        "mcp_prebuilt.Failed": {
            headers: {
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "detail": "the authorization server took too long"
                 *     }
                 */
                "application/json": components["schemas"]["host.Error"];
            };
        };
        /** @description Not on this server */
        "mcp.Disabled": {
            headers: {
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "detail": "MCP integrations are not enabled"
                 *     }
                 */
                "application/json": components["schemas"]["host.Error"];
            };
        };
        /** @description What is wrong with the request, an address that is refused included */
        "mcp.Invalid": {
            headers: {
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "detail": "MCP URL is required"
                 *     }
                 */
                "application/json": components["schemas"]["host.Error"];
            };
        };
        /** @description The MCP server failed, or took longer than 30 seconds */
        "mcp.ServerFailed": {
            headers: {
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "detail": {
                 *         "message": "\"mcp.example.org\": connection refused",
                 *         "error_code": "MCP_CONNECT_FAILED"
                 *       }
                 *     }
                 */
                "application/json": components["schemas"]["mcp.ServerFailed"];
            };
        };
        /** @description More MCP servers than the plan allows */
        "mcp.TooManyServers": {
            headers: {
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "detail": {
                 *         "message": "You have reached the limit of 1 custom MCP servers of your plan",
                 *         "current_count": 1,
                 *         "limit": 1,
                 *         "tier_name": "free",
                 *         "error_code": "CUSTOM_WORKER_LIMIT_EXCEEDED"
                 *       }
                 *     }
                 */
                "application/json": components["schemas"]["mcp.TooManyServers"];
            };
        };
        /** @description No such agent of this account */
        "mcp.UnknownAgent": {
            headers: {
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "detail": "Worker not found"
                 *     }
                 */
                "application/json": components["schemas"]["host.Error"];
            };
        };
        /** @description Done */
        "notifications.Again": {
            headers: {
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "success": true,
                 *       "status": "queued"
                 *     }
                 */
                "application/json": {
                    /** @enum {unknown} */
                    status: "queued" | "cancelled";
                    /** @constant */
                    success: true;
                };
            };
        };
        /** @description A page */
        "notifications.All": {
            headers: {
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "notifications": [
                 *         {
                 *           "id": "0191f2c0-7d5a-7b7e-9d2b-3c1f5a0e4b11",
                 *           "transaction_id": "0191f2c0-7d5a-7b7e-9d2b-3c1f5a0e4b11",
                 *           "account_id": "0191f2c0-7d5a-7b7e-9d2b-3c1f5a0e4b11",
                 *           "workflow_id": "task-completed",
                 *           "status": "sent",
                 *           "reason": null,
                 *           "pending": [],
                 *           "attempts": 1,
                 *           "maybe_duplicate": false,
                 *           "created_at": "2026-11-21T11:00:00.000Z",
                 *           "expires_at": "2026-11-22T11:00:00.000Z",
                 *           "ended_at": "2026-11-21T11:00:01.000Z"
                 *         }
                 *       ],
                 *       "next_cursor": null
                 *     }
                 */
                "application/json": {
                    next_cursor: string | null;
                    notifications: components["schemas"]["notifications.Notification"][];
                };
            };
        };
        /** @description The broadcast */
        "notifications.Broadcast": {
            headers: {
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "id": "0191f2c0-7d5a-7b7e-9d2b-3c1f5a0e4b11",
                 *       "workflow_id": "newsletter",
                 *       "status": "running",
                 *       "payload_template": {
                 *         "title": "Hello {{first_name}}",
                 *         "message": "News"
                 *       },
                 *       "created_by": "0191f2c0-7d5a-7b7e-9d2b-3c1f5a0e4b12",
                 *       "created_at": "2026-11-26T09:00:00.000Z",
                 *       "scheduled_at": null,
                 *       "started_at": "2026-11-26T09:00:01.000Z",
                 *       "ended_at": null,
                 *       "written": 1200,
                 *       "notifications": {
                 *         "sent": 1100,
                 *         "queued": 100
                 *       }
                 *     }
                 */
                "application/json": components["schemas"]["notifications.Broadcast"];
            };
        };
        /** @description A page */
        "notifications.Broadcasts": {
            headers: {
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "broadcasts": [
                 *         {
                 *           "id": "0191f2c0-7d5a-7b7e-9d2b-3c1f5a0e4b11",
                 *           "workflow_id": "newsletter",
                 *           "status": "running",
                 *           "payload_template": {
                 *             "title": "Hello {{first_name}}",
                 *             "message": "News"
                 *           },
                 *           "created_by": "0191f2c0-7d5a-7b7e-9d2b-3c1f5a0e4b12",
                 *           "created_at": "2026-11-26T09:00:00.000Z",
                 *           "scheduled_at": null,
                 *           "started_at": "2026-11-26T09:00:01.000Z",
                 *           "ended_at": null,
                 *           "written": 1200
                 *         }
                 *       ],
                 *       "next_cursor": null
                 *     }
                 */
                "application/json": {
                    broadcasts: components["schemas"]["notifications.Broadcast"][];
                    next_cursor: string | null;
                };
            };
        };
        /** @description The preferences now */
        "notifications.ChangedPreferences": {
            headers: {
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "success": true,
                 *       "message": "Notification preferences updated",
                 *       "preferences": {
                 *         "time_zone": "Europe/Berlin",
                 *         "quiet_hours": {
                 *           "from": "22:00",
                 *           "to": "07:00"
                 *         },
                 *         "workflows": {
                 *           "task-completed": {
                 *             "email": true,
                 *             "push": true,
                 *             "in_app": true,
                 *             "digest_minutes": 0,
                 *             "mandatory": false,
                 *             "urgent": false
                 *           }
                 *         }
                 *       }
                 *     }
                 */
                "application/json": {
                    message: string;
                    preferences: components["schemas"]["notifications.Preferences"];
                    /** @constant */
                    success: true;
                };
            };
        };
        /** @description The settings now */
        "notifications.ChangedSettings": {
            headers: {
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "success": true,
                 *       "message": "Notification settings updated",
                 *       "settings": {
                 *         "account_id": "0191f2c0-7d5a-7b7e-9d2b-3c1f5a0e4b11",
                 *         "email_enabled": true,
                 *         "push_enabled": true,
                 *         "in_app_enabled": true
                 *       }
                 *     }
                 */
                "application/json": {
                    message: string;
                    settings: components["schemas"]["notifications.Settings"];
                    /** @constant */
                    success: true;
                };
            };
        };
        /** @description Not in this mode of deployment, or not by this caller */
        "notifications.Closed": {
            headers: {
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "detail": "Notifications only available in staging mode"
                 *     }
                 */
                "application/json": components["schemas"]["host.Error"];
            };
        };
        /** @description A page */
        "notifications.Deliveries": {
            headers: {
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "deliveries": [
                 *         {
                 *           "notification_id": "0191f2c0-7d5a-7b7e-9d2b-3c1f5a0e4b11",
                 *           "workflow_id": "task-completed",
                 *           "channel": "email",
                 *           "status": "delivered",
                 *           "provider": "mail",
                 *           "detail": "",
                 *           "at": "2026-11-21T11:00:00.000Z"
                 *         }
                 *       ],
                 *       "next_cursor": null
                 *     }
                 */
                "application/json": {
                    deliveries: components["schemas"]["notifications.Delivery"][];
                    next_cursor: string | null;
                };
            };
        };
        /** @description Done */
        "notifications.Done": {
            headers: {
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "success": true
                 *     }
                 */
                "application/json": {
                    /** @constant */
                    success: true;
                };
            };
        };
        /** @description A page */
        "notifications.Inbox": {
            headers: {
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "notifications": [
                 *         {
                 *           "id": "0191f2c0-7d5a-7b7e-9d2b-3c1f5a0e4b11",
                 *           "workflow_id": "task-completed",
                 *           "title": "Done",
                 *           "body": "Report is done",
                 *           "action_url": "https://app.example.org/threads/0191f2c0-7d5a-7b7e-9d2b-3c1f5a0e4b11",
                 *           "payload": {
                 *             "task_name": "Report"
                 *           },
                 *           "read": false,
                 *           "read_at": null,
                 *           "created_at": "2026-11-21T11:00:00.000Z"
                 *         }
                 *       ],
                 *       "next_cursor": null,
                 *       "unread_count": 1
                 *     }
                 */
                "application/json": {
                    next_cursor: string | null;
                    notifications: components["schemas"]["notifications.Entry"][];
                    unread_count: number;
                };
            };
        };
        /** @description Marked */
        "notifications.Marked": {
            headers: {
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "success": true,
                 *       "marked": 1,
                 *       "unread_count": 0
                 *     }
                 */
                "application/json": {
                    marked: number;
                    /** @constant */
                    success: true;
                    unread_count: number;
                };
            };
        };
        /** @description Taken */
        "notifications.Ok": {
            headers: {
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "status": "ok"
                 *     }
                 */
                "application/json": {
                    /** @constant */
                    status: "ok";
                };
            };
        };
        /** @description The notification */
        "notifications.One": {
            headers: {
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "id": "0191f2c0-7d5a-7b7e-9d2b-3c1f5a0e4b11",
                 *       "transaction_id": "0191f2c0-7d5a-7b7e-9d2b-3c1f5a0e4b11",
                 *       "account_id": "0191f2c0-7d5a-7b7e-9d2b-3c1f5a0e4b11",
                 *       "workflow_id": "task-completed",
                 *       "status": "sent",
                 *       "reason": null,
                 *       "pending": [],
                 *       "attempts": 1,
                 *       "maybe_duplicate": false,
                 *       "created_at": "2026-11-21T11:00:00.000Z",
                 *       "expires_at": "2026-11-22T11:00:00.000Z",
                 *       "ended_at": "2026-11-21T11:00:01.000Z",
                 *       "payload": {
                 *         "task_name": "Report"
                 *       },
                 *       "deliveries": [
                 *         {
                 *           "notification_id": "0191f2c0-7d5a-7b7e-9d2b-3c1f5a0e4b11",
                 *           "workflow_id": "task-completed",
                 *           "channel": "email",
                 *           "status": "delivered",
                 *           "provider": "mail",
                 *           "detail": "",
                 *           "at": "2026-11-21T11:00:00.000Z"
                 *         }
                 *       ]
                 *     }
                 */
                "application/json": components["schemas"]["notifications.Notification"];
            };
        };
        /** @description The preferences */
        "notifications.Preferences": {
            headers: {
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "success": true,
                 *       "preferences": {
                 *         "time_zone": "Europe/Berlin",
                 *         "quiet_hours": {
                 *           "from": "22:00",
                 *           "to": "07:00"
                 *         },
                 *         "workflows": {
                 *           "task-completed": {
                 *             "email": true,
                 *             "push": true,
                 *             "in_app": true,
                 *             "digest_minutes": 0,
                 *             "mandatory": false,
                 *             "urgent": false
                 *           }
                 *         }
                 *       }
                 *     }
                 */
                "application/json": {
                    preferences: components["schemas"]["notifications.Preferences"];
                    /** @constant */
                    success: true;
                };
            };
        };
        /** @description Done */
        "notifications.Said": {
            headers: {
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "success": true,
                 *       "message": "Device token registered"
                 *     }
                 */
                "application/json": {
                    message: string;
                    /** @constant */
                    success: true;
                };
            };
        };
        /** @description The settings */
        "notifications.Settings": {
            headers: {
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "success": true,
                 *       "settings": {
                 *         "account_id": "0191f2c0-7d5a-7b7e-9d2b-3c1f5a0e4b11",
                 *         "email_enabled": true,
                 *         "push_enabled": true,
                 *         "in_app_enabled": true
                 *       }
                 *     }
                 */
                "application/json": {
                    settings: components["schemas"]["notifications.Settings"];
                    /** @constant */
                    success: true;
                };
            };
        };
        /** @description The new state */
        "notifications.Steered": {
            headers: {
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "success": true,
                 *       "status": "paused"
                 *     }
                 */
                "application/json": {
                    /** @enum {unknown} */
                    status: "scheduled" | "running" | "paused" | "cancelled" | "completed";
                    /** @constant */
                    success: true;
                };
            };
        };
        /** @description Events */
        "notifications.Stream": {
            headers: {
                [name: string]: unknown;
            };
            content: {
                /** @example data: {"type": "unread_count", "unread_count": 1} */
                "text/event-stream": string;
            };
        };
        /** @description For `?token=` */
        "notifications.Token": {
            headers: {
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "token": "c3RyZWFt",
                 *       "expires_in": 600
                 *     }
                 */
                "application/json": {
                    /** @description Seconds */
                    expires_in: number;
                    token: string;
                };
            };
        };
        /** @description What became of it */
        "notifications.Triggered": {
            headers: {
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "success": true,
                 *       "notification_id": "0191f2c0-7d5a-7b7e-9d2b-3c1f5a0e4b11",
                 *       "status": "queued"
                 *     }
                 */
                "application/json": {
                    audience?: components["schemas"]["notifications.Audience"];
                    /** Format: uuid */
                    broadcast_id?: string;
                    /** @constant */
                    dry_run?: true;
                    /** Format: uuid */
                    notification_id?: string;
                    reason?: string;
                    /** @description The texts as the caller would receive them */
                    sample?: {
                        action_url: string;
                        body: string;
                        /** @description Without the frame that the module mail adds */
                        mail_html: string;
                        mail_text: string;
                        title: string;
                    };
                    /** Format: date-time */
                    scheduled_at?: string;
                    status?: string;
                    success: boolean;
                };
            };
        };
        /** @description The number */
        "notifications.UnreadCount": {
            headers: {
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "success": true,
                 *       "unread_count": 1
                 *     }
                 */
                "application/json": {
                    /** @constant */
                    success: true;
                    unread_count: number;
                };
            };
        };
        /** @description applicationServerKey of pushManager.subscribe, in base64url */
        "notifications.WebPushKey": {
            headers: {
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "public_key": "BP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmYWAmS6TlzAC8wEqKK6PBru3jl7A8"
                 *     }
                 */
                "application/json": {
                    public_key: string;
                };
            };
        };
        /** @description Done */
        "referrals.Reviewed": {
            headers: {
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "success": true,
                 *       "referral_id": "0191f2c0-7d5a-7b7e-9d2b-3c1f5a0e4b11",
                 *       "action": "release"
                 *     }
                 */
                "application/json": {
                    /** @enum {unknown} */
                    action: "flag" | "release" | "revoke";
                    /** Format: uuid */
                    referral_id: string;
                    /** @constant */
                    success: true;
                };
            };
        };
        /** @description The run */
        "runs.Run": {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["runs.Run"];
            };
        };
        /** @description A page */
        "runs.Runs": {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": {
                    agent_runs: components["schemas"]["runs.Run"][];
                    next_cursor: string | null;
                };
            };
        };
        /** @description How it ended */
        "runs.Stopped": {
            headers: {
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "status": "stopped"
                 *     }
                 */
                "application/json": {
                    status: components["schemas"]["runs.Status"];
                };
            };
        };
        /** @description No such project or file */
        "runs.UnknownFile": {
            headers: {
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "detail": "File not found"
                 *     }
                 */
                "application/json": components["schemas"]["host.Error"];
            };
        };
        /** @description No such run of this account */
        "runs.UnknownRun": {
            headers: {
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "detail": "Run not found"
                 *     }
                 */
                "application/json": components["schemas"]["host.Error"];
            };
        };
        /** @description No such thread of this account */
        "runs.UnknownThread": {
            headers: {
                [name: string]: unknown;
            };
            content: {
                /**
                 * @example {
                 *       "detail": "Thread not found"
                 *     }
                 */
                "application/json": components["schemas"]["host.Error"];
            };
        };
    };
    parameters: {
        /** @description `next_cursor` of the page before */
        "accounts.Cursor": string;
        /**
         * @description Id of the account: the `sub` of its tokens
         * @example 0191f2c0-7d5a-7b7e-9d2b-3c1f5a0e4b11
         */
        "accounts.Id": string;
        /** @description Makes a repeat harmless, unless the body has a `ref` */
        "accounts.IdempotencyKey": string;
        /**
         * @description How many of them the answer holds at most
         * @example 20
         */
        "accounts.Limit": number;
        /** @description `next_cursor` of the page before */
        "agents.Cursor": string;
        /**
         * @description Id of the agent, as the list of agents shows it
         * @example 0191f2c0-7d5a-7b7e-9d2b-3c1f5a0e4b11
         */
        "agents.Id": string;
        /**
         * @description How many of them the answer holds at most
         * @example 20
         */
        "agents.Limit": number;
        /**
         * @description Number of the job, as the list shows it
         * @example 4711
         */
        "host.JobId": string;
        /**
         * @description Name of the module, as the list shows it
         * @example referrals
         */
        "host.ModuleName": string;
        /**
         * @description The node's id, as in the list
         * @example 0190f6a1-3c5b-7d2e-9a41-6f0c2b8e5d11
         */
        "host.NodeId": string;
        /**
         * @description Id of the profile, as the list of profiles shows it
         * @example 0191f2c0-7d5a-7b7e-9d2b-3c1f5a0e4b11
         */
        "mcp_prebuilt.Id": string;
        /**
         * @description `broadcast_id` of the answer that began it
         * @example 0191f2c0-7d5a-7b7e-9d2b-3c1f5a0e4b11
         */
        "notifications.BroadcastId": string;
        /** @description `next_cursor` of the page before */
        "notifications.Cursor": string;
        /**
         * @description Id of the notification, as its list shows it
         * @example 0191f2c0-7d5a-7b7e-9d2b-3c1f5a0e4b11
         */
        "notifications.Id": string;
        /**
         * @description How many of them the answer holds at most
         * @example 20
         */
        "notifications.Limit": number;
        /**
         * @description Id of the referral, as its list shows it
         * @example 0191f2c0-7d5a-7b7e-9d2b-3c1f5a0e4b11
         */
        "referrals.Id": string;
        /**
         * @description How many of them the answer holds at most
         * @example 20
         */
        "referrals.Limit": number;
        /** @description `next_cursor` of the page before */
        "runs.Cursor": string;
        /**
         * @description How many of them the answer holds at most
         * @example 20
         */
        "runs.Limit": number;
        /**
         * @description Id of the project: `project_id` of the start that began it
         * @example 0191f2c0-7d5a-7b7e-9d2b-3c1f5a0e4b11
         */
        "runs.ProjectId": string;
        /**
         * @description Id of the run: `agent_run_id` of its start
         * @example 0191f2c0-7d5a-7b7e-9d2b-3c1f5a0e4b11
         */
        "runs.RunId": string;
        /**
         * @description Id of the thread: `thread_id` of the start that began it
         * @example 0191f2c0-7d5a-7b7e-9d2b-3c1f5a0e4b11
         */
        "runs.ThreadId": string;
    };
    requestBodies: {
        "accounts.Movement": {
            content: {
                /**
                 * @example {
                 *       "credits": 200,
                 *       "reason": "support case",
                 *       "ref": "case-4711"
                 *     }
                 */
                "application/json": {
                    credits: number;
                    reason?: string | null;
                    /** @description Makes a repeat harmless */
                    ref?: string | null;
                };
            };
        };
        "agents.Change": {
            content: {
                /**
                 * @example {
                 *       "system_prompt": "You read twice.",
                 *       "expected_version": 1
                 *     }
                 */
                "application/json": components["schemas"]["agents.Change"];
            };
        };
        "agents.New": {
            content: {
                /**
                 * @example {
                 *       "name": "Researcher",
                 *       "system_prompt": "You read carefully."
                 *     }
                 */
                "application/json": components["schemas"]["agents.New"];
            };
        };
        "notifications.Device": {
            content: {
                /**
                 * @example {
                 *       "device_token": "ExponentPushToken[xxxxxxxxxxxxxxxxxxxxxx]",
                 *       "device_type": "mobile",
                 *       "provider": "expo"
                 *     }
                 */
                "application/json": {
                    device_token: string;
                    device_type: string;
                    /** @description In any case. One to which the orchestrator can send: `expo` and `web-push` for the built-in one */
                    provider: string;
                };
            };
        };
        "notifications.Preferences": {
            content: {
                /**
                 * @example {
                 *       "quiet_hours": {
                 *         "from": "22:00",
                 *         "to": "07:00"
                 *       },
                 *       "workflows": {
                 *         "task-completed": {
                 *           "email": false
                 *         }
                 *       }
                 *     }
                 */
                "application/json": {
                    quiet_hours?: {
                        from: string;
                        to: string;
                    } | null;
                    time_zone?: string | null;
                    workflows?: {
                        [key: string]: {
                            digest_minutes?: number;
                            email?: boolean;
                            in_app?: boolean;
                            /** @description Of workflows about tasks: e-mails are sent only for runs that took at least so many minutes */
                            min_minutes?: number;
                            push?: boolean;
                        } | null;
                    } | null;
                };
            };
        };
        "notifications.Presence": {
            content: {
                /**
                 * @example {
                 *       "session_id": "tab-1",
                 *       "active_thread_id": "0191f2c0-7d5a-7b7e-9d2b-3c1f5a0e4b11"
                 *     }
                 */
                "application/json": {
                    /** Format: uuid */
                    active_thread_id?: string | null;
                    /** @description The tab or device */
                    session_id: string;
                };
            };
        };
        "notifications.Settings": {
            content: {
                /**
                 * @example {
                 *       "push_enabled": false
                 *     }
                 */
                "application/json": {
                    email_enabled?: boolean | null;
                    in_app_enabled?: boolean | null;
                    push_enabled?: boolean | null;
                };
            };
        };
        "notifications.Trigger": {
            content: {
                /**
                 * @example {
                 *       "workflow_id": "promotional",
                 *       "payload_template": {
                 *         "title": "Hello {{first_name}}",
                 *         "message": "News"
                 *       },
                 *       "broadcast": true
                 *     }
                 */
                "application/json": {
                    broadcast?: boolean | null;
                    /** @description Of a broadcast: send nothing, answer with the audience and a sample */
                    dry_run?: boolean | null;
                    payload_template?: {
                        [key: string]: unknown;
                    } | null;
                    /**
                     * Format: date-time
                     * @description Of a broadcast: when it begins, in UTC; absent = at once
                     */
                    scheduled_at?: string | null;
                    subscriber_email?: string | null;
                    /** Format: uuid */
                    subscriber_id?: string | null;
                    /** @description Of a broadcast: send it to the caller only */
                    test?: boolean | null;
                    workflow_id: string;
                };
            };
        };
        "notifications.Webhook": {
            content: {
                /**
                 * @example {
                 *       "type": "notification.sent",
                 *       "transactionId": "0191f2c0-7d5a-7b7e-9d2b-3c1f5a0e4b11",
                 *       "subscriberId": "0191f2c0-7d5a-7b7e-9d2b-3c1f5a0e4b11"
                 *     }
                 */
                "application/json": {
                    subscriberId?: unknown;
                    transactionId?: unknown;
                    type?: unknown;
                } | unknown[] | string | number | boolean | null;
            };
        };
        "referrals.Reason": {
            content: {
                /**
                 * @example {
                 *       "reason": "ten accounts of one network"
                 *     }
                 */
                "application/json": {
                    /** @description For the audit */
                    reason?: string;
                };
            };
        };
    };
    headers: never;
    pathItems: never;
}
export type $defs = Record<string, never>;
export interface operations {
    "console.first": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description To the console */
            303: {
                headers: {
                    /** @example console */
                    Location?: string;
                    [name: string]: unknown;
                };
                content?: never;
            };
            403: components["responses"]["host.ForeignSite"];
            429: components["responses"]["host.TooManyRequests"];
            500: components["responses"]["host.InternalError"];
            503: components["responses"]["host.Unavailable"];
            504: components["responses"]["host.TimedOut"];
        };
    };
    "accounts.own": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: components["responses"]["accounts.Account"];
            401: components["responses"]["host.NotAuthenticated"];
            403: components["responses"]["host.ForeignSite"];
            429: components["responses"]["host.TooManyRequests"];
            500: components["responses"]["host.InternalError"];
            503: components["responses"]["host.Unavailable"];
            504: components["responses"]["host.TimedOut"];
        };
    };
    "accounts.close_own": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Deleted */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            401: components["responses"]["host.NotAuthenticated"];
            403: components["responses"]["accounts.NeedsToken"];
            408: components["responses"]["host.BodyTooSlow"];
            413: components["responses"]["host.TooLarge"];
            429: components["responses"]["host.TooManyRequests"];
            500: components["responses"]["host.InternalError"];
            503: components["responses"]["host.Unavailable"];
            504: components["responses"]["host.TimedOut"];
        };
    };
    "accounts.show": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description Id of the account: the `sub` of its tokens
                 * @example 0191f2c0-7d5a-7b7e-9d2b-3c1f5a0e4b11
                 */
                id: components["parameters"]["accounts.Id"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: components["responses"]["accounts.Account"];
            400: components["responses"]["host.BadRequest"];
            401: components["responses"]["host.NotAuthenticated"];
            403: components["responses"]["host.Forbidden"];
            404: components["responses"]["host.NotFound"];
            422: components["responses"]["host.Unprocessable"];
            429: components["responses"]["host.TooManyRequests"];
            500: components["responses"]["host.InternalError"];
            503: components["responses"]["host.Unavailable"];
            504: components["responses"]["host.TimedOut"];
        };
    };
    "accounts.change": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description Id of the account: the `sub` of its tokens
                 * @example 0191f2c0-7d5a-7b7e-9d2b-3c1f5a0e4b11
                 */
                id: components["parameters"]["accounts.Id"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "tier": "pro"
                 *     }
                 */
                "application/json": {
                    /** @enum {unknown} */
                    role?: "user" | "admin" | "super_admin" | null;
                    /** @description One of the configured ones */
                    tier?: string | null;
                };
            };
        };
        responses: {
            200: components["responses"]["accounts.Account"];
            400: components["responses"]["host.BadRequest"];
            401: components["responses"]["host.NotAuthenticated"];
            403: components["responses"]["host.Forbidden"];
            404: components["responses"]["host.NotFound"];
            408: components["responses"]["host.BodyTooSlow"];
            413: components["responses"]["host.TooLarge"];
            422: components["responses"]["host.Unprocessable"];
            429: components["responses"]["host.TooManyRequests"];
            500: components["responses"]["host.InternalError"];
            503: components["responses"]["host.Unavailable"];
            504: components["responses"]["host.TimedOut"];
        };
    };
    "accounts.close": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description Id of the account: the `sub` of its tokens
                 * @example 0191f2c0-7d5a-7b7e-9d2b-3c1f5a0e4b11
                 */
                id: components["parameters"]["accounts.Id"];
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                /**
                 * @example {
                 *       "reason": "request of the owner"
                 *     }
                 */
                "application/json": {
                    /** @description For the audit */
                    reason?: string | null;
                };
            };
        };
        responses: {
            /** @description Deleted */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["host.BadRequest"];
            401: components["responses"]["host.NotAuthenticated"];
            403: components["responses"]["host.Forbidden"];
            404: components["responses"]["host.NotFound"];
            408: components["responses"]["host.BodyTooSlow"];
            413: components["responses"]["host.TooLarge"];
            422: components["responses"]["host.Unprocessable"];
            429: components["responses"]["host.TooManyRequests"];
            500: components["responses"]["host.InternalError"];
            503: components["responses"]["host.Unavailable"];
            504: components["responses"]["host.TimedOut"];
        };
    };
    "accounts.grant": {
        parameters: {
            query?: never;
            header?: {
                /** @description Makes a repeat harmless, unless the body has a `ref` */
                "Idempotency-Key"?: components["parameters"]["accounts.IdempotencyKey"];
            };
            path: {
                /**
                 * @description Id of the account: the `sub` of its tokens
                 * @example 0191f2c0-7d5a-7b7e-9d2b-3c1f5a0e4b11
                 */
                id: components["parameters"]["accounts.Id"];
            };
            cookie?: never;
        };
        requestBody: components["requestBodies"]["accounts.Movement"];
        responses: {
            /** @description The balance after it */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "account_id": "0191f2c0-7d5a-7b7e-9d2b-3c1f5a0e4b11",
                     *       "balance_credits": 700,
                     *       "balance_micro": 700000000,
                     *       "replayed": false
                     *     }
                     */
                    "application/json": components["schemas"]["accounts.Balance"];
                };
            };
            400: components["responses"]["host.BadRequest"];
            401: components["responses"]["host.NotAuthenticated"];
            403: components["responses"]["host.Forbidden"];
            404: components["responses"]["host.NotFound"];
            408: components["responses"]["host.BodyTooSlow"];
            /** @description The key was used with another amount, or the balance is too low */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "detail": {
                     *         "message": "A revoke cannot make the balance negative",
                     *         "balance_credits": 10,
                     *         "balance_micro": 10000000,
                     *         "error_code": "BALANCE_TOO_LOW"
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["accounts.Refused"];
                };
            };
            413: components["responses"]["host.TooLarge"];
            422: components["responses"]["host.Unprocessable"];
            429: components["responses"]["host.TooManyRequests"];
            500: components["responses"]["host.InternalError"];
            503: components["responses"]["host.Unavailable"];
            504: components["responses"]["host.TimedOut"];
        };
    };
    "accounts.ledger": {
        parameters: {
            query?: {
                /** @description `next_cursor` of the page before */
                cursor?: components["parameters"]["accounts.Cursor"];
                /**
                 * @description How many of them the answer holds at most
                 * @example 20
                 */
                limit?: components["parameters"]["accounts.Limit"];
            };
            header?: never;
            path: {
                /**
                 * @description Id of the account: the `sub` of its tokens
                 * @example 0191f2c0-7d5a-7b7e-9d2b-3c1f5a0e4b11
                 */
                id: components["parameters"]["accounts.Id"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "entries": [
                     *         {
                     *           "id": 12,
                     *           "at": "2026-11-20T09:30:00.000000Z",
                     *           "kind": "usage",
                     *           "ref": "0191f2c0-7d5a-7b7e-9d2b-3c1f5a0e4b11:1:1",
                     *           "delta_credits": -0.0042,
                     *           "delta_micro": -4200,
                     *           "balance_credits": 499.9958,
                     *           "balance_micro": 499995800,
                     *           "note": {
                     *             "step": 1
                     *           }
                     *         }
                     *       ],
                     *       "next_cursor": null
                     *     }
                     */
                    "application/json": {
                        entries: components["schemas"]["accounts.Entry"][];
                        next_cursor: string | null;
                    };
                };
            };
            400: components["responses"]["host.BadRequest"];
            401: components["responses"]["host.NotAuthenticated"];
            403: components["responses"]["host.Forbidden"];
            404: components["responses"]["host.NotFound"];
            422: components["responses"]["host.Unprocessable"];
            429: components["responses"]["host.TooManyRequests"];
            500: components["responses"]["host.InternalError"];
            503: components["responses"]["host.Unavailable"];
            504: components["responses"]["host.TimedOut"];
        };
    };
    "accounts.revoke": {
        parameters: {
            query?: never;
            header?: {
                /** @description Makes a repeat harmless, unless the body has a `ref` */
                "Idempotency-Key"?: components["parameters"]["accounts.IdempotencyKey"];
            };
            path: {
                /**
                 * @description Id of the account: the `sub` of its tokens
                 * @example 0191f2c0-7d5a-7b7e-9d2b-3c1f5a0e4b11
                 */
                id: components["parameters"]["accounts.Id"];
            };
            cookie?: never;
        };
        requestBody: components["requestBodies"]["accounts.Movement"];
        responses: {
            /** @description The balance after it */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "account_id": "0191f2c0-7d5a-7b7e-9d2b-3c1f5a0e4b11",
                     *       "balance_credits": 700,
                     *       "balance_micro": 700000000,
                     *       "replayed": false
                     *     }
                     */
                    "application/json": components["schemas"]["accounts.Balance"];
                };
            };
            400: components["responses"]["host.BadRequest"];
            401: components["responses"]["host.NotAuthenticated"];
            403: components["responses"]["host.Forbidden"];
            404: components["responses"]["host.NotFound"];
            408: components["responses"]["host.BodyTooSlow"];
            /** @description The key was used with another amount, or the balance is too low */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "detail": {
                     *         "message": "A revoke cannot make the balance negative",
                     *         "balance_credits": 10,
                     *         "balance_micro": 10000000,
                     *         "error_code": "BALANCE_TOO_LOW"
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["accounts.Refused"];
                };
            };
            413: components["responses"]["host.TooLarge"];
            422: components["responses"]["host.Unprocessable"];
            429: components["responses"]["host.TooManyRequests"];
            500: components["responses"]["host.InternalError"];
            503: components["responses"]["host.Unavailable"];
            504: components["responses"]["host.TimedOut"];
        };
    };
    "accounts.audit": {
        parameters: {
            query?: {
                /** @description Only what was done to this account */
                account_id?: string;
                /**
                 * @description Only actions of this name
                 * @example grant
                 */
                action?: string;
                /** @description The subject of who did it */
                actor?: string;
                /** @description `next_cursor` of the page before */
                cursor?: components["parameters"]["accounts.Cursor"];
                /**
                 * @description How many of them the answer holds at most
                 * @example 20
                 */
                limit?: components["parameters"]["accounts.Limit"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "entries": [
                     *         {
                     *           "id": 3,
                     *           "at": "2026-11-20T09:30:00.000000Z",
                     *           "actor": "0191f2c0-1111-7b7e-9d2b-3c1f5a0e4b11",
                     *           "action": "tier",
                     *           "account_id": "0191f2c0-7d5a-7b7e-9d2b-3c1f5a0e4b11",
                     *           "subject": null,
                     *           "detail": {
                     *             "from": "free",
                     *             "to": "pro"
                     *           }
                     *         }
                     *       ],
                     *       "next_cursor": null
                     *     }
                     */
                    "application/json": {
                        entries: {
                            /** Format: uuid */
                            account_id: string | null;
                            action: string;
                            actor: string;
                            /** Format: date-time */
                            at: string;
                            /** @description By the action */
                            detail: unknown;
                            id: number;
                            subject: string | null;
                        }[];
                        next_cursor: string | null;
                    };
                };
            };
            400: components["responses"]["host.BadRequest"];
            401: components["responses"]["host.NotAuthenticated"];
            403: components["responses"]["host.Forbidden"];
            422: components["responses"]["host.Unprocessable"];
            429: components["responses"]["host.TooManyRequests"];
            500: components["responses"]["host.InternalError"];
            503: components["responses"]["host.Unavailable"];
            504: components["responses"]["host.TimedOut"];
        };
    };
    "accounts.publish_event": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "kind": "payment.failed",
                 *       "key": "in_1QabcD",
                 *       "payload": {
                 *         "account_id": "0191f2c0-7d5a-7b7e-9d2b-3c1f5a0e4b11",
                 *         "amount": "20.00",
                 *         "currency": "EUR",
                 *         "reason": "The card was declined"
                 *       }
                 *     }
                 */
                "application/json": {
                    /** @description The payment's id in the billing system */
                    key: string;
                    /** @enum {unknown} */
                    kind: "payment.succeeded" | "payment.failed";
                    payload: {
                        /** Format: uuid */
                        account_id: string;
                        /** @description From 0 to 1000000000 with at most six decimals */
                        amount: number | string;
                        /** @description Code of ISO 4217 */
                        currency: string;
                        plan_name?: string;
                        reason?: string;
                    };
                };
            };
        };
        responses: {
            /** @description Published, now or before */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "kind": "payment.failed",
                     *       "key": "in_1QabcD",
                     *       "account_id": "0191f2c0-7d5a-7b7e-9d2b-3c1f5a0e4b11",
                     *       "event_id": 4711,
                     *       "replayed": false
                     *     }
                     */
                    "application/json": {
                        /** Format: uuid */
                        account_id: string;
                        event_id: number;
                        key: string;
                        kind: string;
                        /** @description The key was used before with the same payload */
                        replayed: boolean;
                    };
                };
            };
            400: components["responses"]["host.BadRequest"];
            401: components["responses"]["host.NotAuthenticated"];
            403: components["responses"]["host.Forbidden"];
            404: components["responses"]["host.NotFound"];
            408: components["responses"]["host.BodyTooSlow"];
            /** @description The key was used before with another payload */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "detail": {
                     *         "message": "This key was used before with another payload",
                     *         "error_code": "IDEMPOTENCY_KEY_REUSED"
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["host.Error"];
                };
            };
            413: components["responses"]["host.TooLarge"];
            422: components["responses"]["host.Unprocessable"];
            429: components["responses"]["host.TooManyRequests"];
            500: components["responses"]["host.InternalError"];
            503: components["responses"]["host.Unavailable"];
            504: components["responses"]["host.TimedOut"];
        };
    };
    "host.list_jobs": {
        parameters: {
            query?: {
                /**
                 * @description `next_cursor` of the page before
                 * @example 4711
                 */
                cursor?: string;
                /**
                 * @description How many of them the answer holds at most
                 * @example 20
                 */
                limit?: number;
                /**
                 * @description `dead`: given up after the last attempt
                 * @example dead
                 */
                state?: "ready" | "running" | "dead" | "scheduled";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description One page */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "jobs": [
                     *         {
                     *           "id": 4711,
                     *           "kind": "mail.send",
                     *           "queue": "mail",
                     *           "attempts": 20,
                     *           "max_attempts": 20,
                     *           "crashes": 0,
                     *           "node": null,
                     *           "enqueued_at": "2026-11-20T09:30:00.000Z",
                     *           "run_at": "2026-11-20T11:02:13.481Z",
                     *           "last_error": "mail.relay: no answer within 30 s"
                     *         }
                     *       ],
                     *       "next_cursor": null
                     *     }
                     */
                    "application/json": components["schemas"]["host.Jobs"];
                };
            };
            400: components["responses"]["host.BadRequest"];
            401: components["responses"]["host.NotAuthenticated"];
            403: components["responses"]["host.Forbidden"];
            422: components["responses"]["host.Unprocessable"];
            429: components["responses"]["host.TooManyRequests"];
            500: components["responses"]["host.InternalError"];
            503: components["responses"]["host.Unavailable"];
            504: components["responses"]["host.TimedOut"];
        };
    };
    "host.discard_job": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description Number of the job, as the list shows it
                 * @example 4711
                 */
                id: components["parameters"]["host.JobId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: components["responses"]["host.Done"];
            401: components["responses"]["host.NotAuthenticated"];
            403: components["responses"]["host.Forbidden"];
            404: components["responses"]["host.NotFound"];
            408: components["responses"]["host.BodyTooSlow"];
            413: components["responses"]["host.TooLarge"];
            422: components["responses"]["host.Unprocessable"];
            429: components["responses"]["host.TooManyRequests"];
            500: components["responses"]["host.InternalError"];
            503: components["responses"]["host.Unavailable"];
            504: components["responses"]["host.TimedOut"];
        };
    };
    "host.retry_job": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description Number of the job, as the list shows it
                 * @example 4711
                 */
                id: components["parameters"]["host.JobId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: components["responses"]["host.Done"];
            401: components["responses"]["host.NotAuthenticated"];
            403: components["responses"]["host.Forbidden"];
            404: components["responses"]["host.NotFound"];
            408: components["responses"]["host.BodyTooSlow"];
            409: components["responses"]["host.Conflict"];
            413: components["responses"]["host.TooLarge"];
            422: components["responses"]["host.Unprocessable"];
            429: components["responses"]["host.TooManyRequests"];
            500: components["responses"]["host.InternalError"];
            503: components["responses"]["host.Unavailable"];
            504: components["responses"]["host.TimedOut"];
        };
    };
    "mail.list": {
        parameters: {
            query?: {
                /** @description `next_cursor` of the page before */
                cursor?: string;
                /**
                 * @description How many of them the answer holds at most
                 * @example 20
                 */
                limit?: number;
                /**
                 * @description What became of the messages: taken by the relay, refused by it for good, given up after many attempts, or not sent because the address is suppressed
                 * @example dead
                 */
                state?: ("sent" | "refused" | "dead" | "suppressed") | string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page, without subjects and bodies */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "messages": [
                     *         {
                     *           "id": "0191f2c0-7d5a-7b7e-9d2b-3c1f5a0e4b11",
                     *           "category": "account",
                     *           "address": "ann@example.org",
                     *           "state": "dead",
                     *           "attempts": 12,
                     *           "maybe_duplicate": false,
                     *           "reply": "451 4.7.1 Greylisted",
                     *           "created_at": "2026-11-20T09:30:00.000Z",
                     *           "ended_at": "2026-11-21T09:30:00.000Z"
                     *         }
                     *       ],
                     *       "next_cursor": null
                     *     }
                     */
                    "application/json": {
                        messages: {
                            address: string;
                            attempts: number;
                            category: string;
                            /** Format: date-time */
                            created_at: string;
                            /** Format: date-time */
                            ended_at: string | null;
                            /** Format: uuid */
                            id: string;
                            /** @description The connection was cut after the whole message was sent */
                            maybe_duplicate: boolean;
                            /** @description What the relay said last */
                            reply: string | null;
                            /** @enum {unknown} */
                            state: "sent" | "refused" | "dead" | "suppressed";
                        }[];
                        next_cursor: string | null;
                    };
                };
            };
            400: components["responses"]["host.BadRequest"];
            401: components["responses"]["host.NotAuthenticated"];
            403: components["responses"]["host.Forbidden"];
            422: components["responses"]["host.Unprocessable"];
            429: components["responses"]["host.TooManyRequests"];
            500: components["responses"]["host.InternalError"];
            503: components["responses"]["host.Unavailable"];
            504: components["responses"]["host.TimedOut"];
        };
    };
    "mail.requeue": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description A message that was given up or refused
                 * @example 0191f2c0-7d5a-7b7e-9d2b-3c1f5a0e4b11
                 */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description It is tried at once */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "state": "queued"
                     *     }
                     */
                    "application/json": {
                        /** @constant */
                        state: "queued";
                    };
                };
            };
            400: components["responses"]["host.BadRequest"];
            401: components["responses"]["host.NotAuthenticated"];
            403: components["responses"]["host.Forbidden"];
            404: components["responses"]["host.NotFound"];
            408: components["responses"]["host.BodyTooSlow"];
            409: components["responses"]["host.Conflict"];
            413: components["responses"]["host.TooLarge"];
            422: components["responses"]["host.Unprocessable"];
            429: components["responses"]["host.TooManyRequests"];
            500: components["responses"]["host.InternalError"];
            503: components["responses"]["host.Unavailable"];
            504: components["responses"]["host.TimedOut"];
        };
    };
    "mail.suppressions": {
        parameters: {
            query?: {
                /**
                 * @description Only of this address
                 * @example ann@example.org
                 */
                address?: string;
                /**
                 * @description Only of this kind of mail; `*` = of all mail
                 * @example *
                 */
                category?: string;
                /** @description `next_cursor` of the page before */
                cursor?: string;
                /**
                 * @description How many of them the answer holds at most
                 * @example 20
                 */
                limit?: number;
                /**
                 * @description Only those: the relay reported the address as unknown, its owner unsubscribed, or an operator blocked it
                 * @example bounced
                 */
                reason?: "bounced" | "unsubscribed" | "operator";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "suppressions": [
                     *         {
                     *           "address": "ann@example.org",
                     *           "category": "*",
                     *           "reason": "bounced",
                     *           "detail": "550 5.1.1 No such user",
                     *           "since": "2026-11-20T09:30:00.000Z",
                     *           "expires_at": "2027-02-18T09:30:00.000Z"
                     *         }
                     *       ],
                     *       "next_cursor": null
                     *     }
                     */
                    "application/json": {
                        next_cursor: string | null;
                        suppressions: {
                            address: string;
                            category: string;
                            /** @description The relay's reply */
                            detail: string | null;
                            /** Format: date-time */
                            expires_at: string | null;
                            /** @enum {unknown} */
                            reason: "bounced" | "unsubscribed" | "operator";
                            /** Format: date-time */
                            since: string;
                        }[];
                    };
                };
            };
            400: components["responses"]["host.BadRequest"];
            401: components["responses"]["host.NotAuthenticated"];
            403: components["responses"]["host.Forbidden"];
            422: components["responses"]["host.Unprocessable"];
            429: components["responses"]["host.TooManyRequests"];
            500: components["responses"]["host.InternalError"];
            503: components["responses"]["host.Unavailable"];
            504: components["responses"]["host.TimedOut"];
        };
    };
    "mail.lift": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The mail address that gets messages again
                 * @example ann@example.org
                 */
                address: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Allowed */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            401: components["responses"]["host.NotAuthenticated"];
            403: components["responses"]["host.Forbidden"];
            404: components["responses"]["host.NotFound"];
            408: components["responses"]["host.BodyTooSlow"];
            413: components["responses"]["host.TooLarge"];
            422: components["responses"]["host.Unprocessable"];
            429: components["responses"]["host.TooManyRequests"];
            500: components["responses"]["host.InternalError"];
            503: components["responses"]["host.Unavailable"];
            504: components["responses"]["host.TimedOut"];
        };
    };
    "mail.lift_many": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "domain": "example.org",
                 *       "since": "2026-11-20T09:30:00Z"
                 *     }
                 */
                "application/json": {
                    addresses?: string[] | null;
                    /** @description Addresses of this domain and of those below it */
                    domain?: string | null;
                    /**
                     * @default bounced
                     * @enum {unknown}
                     */
                    reason?: "bounced" | "operator" | null;
                    /** Format: date-time */
                    since?: string | null;
                    /** Format: date-time */
                    until?: string | null;
                };
            };
        };
        responses: {
            /** @description How many were lifted */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "lifted": 12
                     *     }
                     */
                    "application/json": {
                        lifted: number;
                    };
                };
            };
            400: components["responses"]["host.BadRequest"];
            401: components["responses"]["host.NotAuthenticated"];
            403: components["responses"]["host.Forbidden"];
            408: components["responses"]["host.BodyTooSlow"];
            413: components["responses"]["host.TooLarge"];
            422: components["responses"]["host.Unprocessable"];
            429: components["responses"]["host.TooManyRequests"];
            500: components["responses"]["host.InternalError"];
            503: components["responses"]["host.Unavailable"];
            504: components["responses"]["host.TimedOut"];
        };
    };
    "mcp.try_call": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "type": "http",
                 *       "config": {
                 *         "url": "https://mcp.example.org/mcp"
                 *       },
                 *       "tool": "search",
                 *       "arguments": {
                 *         "query": "agents"
                 *       }
                 *     }
                 */
                "application/json": components["schemas"]["mcp.Call"];
            };
        };
        responses: {
            /** @description The result as the server sent it */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "content": [
                     *         {
                     *           "type": "text",
                     *           "text": "Three pages"
                     *         }
                     *       ],
                     *       "isError": false
                     *     }
                     */
                    "application/json": {
                        [key: string]: unknown;
                    };
                };
            };
            400: components["responses"]["mcp.Invalid"];
            401: components["responses"]["host.NotAuthenticated"];
            403: components["responses"]["host.Forbidden"];
            408: components["responses"]["host.BodyTooSlow"];
            413: components["responses"]["host.TooLarge"];
            422: components["responses"]["host.Unprocessable"];
            429: components["responses"]["host.TooManyRequests"];
            500: components["responses"]["host.InternalError"];
            502: components["responses"]["mcp.ServerFailed"];
            503: components["responses"]["host.Unavailable"];
            504: components["responses"]["mcp.ServerFailed"];
        };
    };
    "mcp.try_tools": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "type": "http",
                 *       "config": {
                 *         "url": "https://mcp.example.org/mcp"
                 *       }
                 *     }
                 */
                "application/json": components["schemas"]["mcp.Question"];
            };
        };
        responses: {
            /** @description What it offers, and what of it cannot be used */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "server_name": "docs",
                     *       "instructions": "",
                     *       "tools": [
                     *         {
                     *           "name": "search",
                     *           "description": "Finds pages",
                     *           "parameters": {
                     *             "type": "object"
                     *           },
                     *           "read_only": true,
                     *           "hash": "9a0364b9"
                     *         }
                     *       ],
                     *       "left_out": []
                     *     }
                     */
                    "application/json": {
                        /** @description The server's instructions for the model */
                        instructions: string;
                        left_out: components["schemas"]["mcp.Names"];
                        server_name: string;
                        tools: {
                            description: string;
                            hash: string;
                            name: string;
                            /** @description JSON Schema, as the server says */
                            parameters: unknown;
                            read_only: boolean;
                        }[];
                    };
                };
            };
            400: components["responses"]["mcp.Invalid"];
            401: components["responses"]["host.NotAuthenticated"];
            403: components["responses"]["host.Forbidden"];
            408: components["responses"]["host.BodyTooSlow"];
            413: components["responses"]["host.TooLarge"];
            422: components["responses"]["host.Unprocessable"];
            429: components["responses"]["host.TooManyRequests"];
            500: components["responses"]["host.InternalError"];
            502: components["responses"]["mcp.ServerFailed"];
            503: components["responses"]["host.Unavailable"];
            504: components["responses"]["mcp.ServerFailed"];
        };
    };
    "host.list_modules": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description In order of their start, the disabled and the refused last */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["host.Module"][];
                };
            };
            401: components["responses"]["host.NotAuthenticated"];
            403: components["responses"]["host.Forbidden"];
            429: components["responses"]["host.TooManyRequests"];
            500: components["responses"]["host.InternalError"];
            503: components["responses"]["host.Unavailable"];
            504: components["responses"]["host.TimedOut"];
        };
    };
    "host.disable_module": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description Name of the module, as the list shows it
                 * @example referrals
                 */
                name: components["parameters"]["host.ModuleName"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The modules have changed */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["host.ModuleChange"];
                };
            };
            401: components["responses"]["host.NotAuthenticated"];
            403: components["responses"]["host.Forbidden"];
            404: components["responses"]["host.NotFound"];
            408: components["responses"]["host.BodyTooSlow"];
            409: components["responses"]["host.Conflict"];
            413: components["responses"]["host.TooLarge"];
            422: components["responses"]["host.Unprocessable"];
            429: components["responses"]["host.TooManyRequests"];
            500: components["responses"]["host.InternalError"];
            503: components["responses"]["host.Unavailable"];
        };
    };
    "host.enable_module": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description Name of the module, as the list shows it
                 * @example referrals
                 */
                name: components["parameters"]["host.ModuleName"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The modules have changed */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["host.ModuleChange"];
                };
            };
            401: components["responses"]["host.NotAuthenticated"];
            403: components["responses"]["host.Forbidden"];
            404: components["responses"]["host.NotFound"];
            408: components["responses"]["host.BodyTooSlow"];
            409: components["responses"]["host.Conflict"];
            413: components["responses"]["host.TooLarge"];
            422: components["responses"]["host.Unprocessable"];
            429: components["responses"]["host.TooManyRequests"];
            500: components["responses"]["host.InternalError"];
            503: components["responses"]["host.Unavailable"];
        };
    };
    "host.reload_module": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description Name of the module, as the list shows it
                 * @example referrals
                 */
                name: components["parameters"]["host.ModuleName"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The modules have changed */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["host.ModuleChange"];
                };
            };
            401: components["responses"]["host.NotAuthenticated"];
            403: components["responses"]["host.Forbidden"];
            404: components["responses"]["host.NotFound"];
            408: components["responses"]["host.BodyTooSlow"];
            409: components["responses"]["host.Conflict"];
            413: components["responses"]["host.TooLarge"];
            422: components["responses"]["host.Unprocessable"];
            429: components["responses"]["host.TooManyRequests"];
            500: components["responses"]["host.InternalError"];
            503: components["responses"]["host.Unavailable"];
        };
    };
    "host.list_nodes": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The longest running first */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["host.Node"][];
                };
            };
            401: components["responses"]["host.NotAuthenticated"];
            403: components["responses"]["host.Forbidden"];
            429: components["responses"]["host.TooManyRequests"];
            500: components["responses"]["host.InternalError"];
            503: components["responses"]["host.Unavailable"];
            504: components["responses"]["host.TimedOut"];
        };
    };
    "host.drain_node": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The node's id, as in the list
                 * @example 0190f6a1-3c5b-7d2e-9a41-6f0c2b8e5d11
                 */
                id: components["parameters"]["host.NodeId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description It will */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "0190f6a1-3c5b-7d2e-9a41-6f0c2b8e5d11",
                     *       "state": "draining",
                     *       "running": 12
                     *     }
                     */
                    "application/json": components["schemas"]["host.NodeChange"];
                };
            };
            401: components["responses"]["host.NotAuthenticated"];
            403: components["responses"]["host.Forbidden"];
            404: components["responses"]["host.NotFound"];
            408: components["responses"]["host.BodyTooSlow"];
            413: components["responses"]["host.TooLarge"];
            422: components["responses"]["host.Unprocessable"];
            429: components["responses"]["host.TooManyRequests"];
            500: components["responses"]["host.InternalError"];
            503: components["responses"]["host.Unavailable"];
            504: components["responses"]["host.TimedOut"];
        };
    };
    "host.undrain_node": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The node's id, as in the list
                 * @example 0190f6a1-3c5b-7d2e-9a41-6f0c2b8e5d11
                 */
                id: components["parameters"]["host.NodeId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description It will */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "0190f6a1-3c5b-7d2e-9a41-6f0c2b8e5d11",
                     *       "state": "active",
                     *       "running": 0
                     *     }
                     */
                    "application/json": components["schemas"]["host.NodeChange"];
                };
            };
            401: components["responses"]["host.NotAuthenticated"];
            403: components["responses"]["host.Forbidden"];
            404: components["responses"]["host.NotFound"];
            408: components["responses"]["host.BodyTooSlow"];
            413: components["responses"]["host.TooLarge"];
            422: components["responses"]["host.Unprocessable"];
            429: components["responses"]["host.TooManyRequests"];
            500: components["responses"]["host.InternalError"];
            503: components["responses"]["host.Unavailable"];
            504: components["responses"]["host.TimedOut"];
        };
    };
    "notifications.all": {
        parameters: {
            query?: {
                /** @description Only those to this account */
                account_id?: string;
                /** @description `next_cursor` of the page before */
                cursor?: components["parameters"]["notifications.Cursor"];
                /**
                 * @description How many of them the answer holds at most
                 * @example 20
                 */
                limit?: components["parameters"]["notifications.Limit"];
                /**
                 * @description Only notifications in this state; empty: in any
                 * @example dead
                 */
                status?: ("" | "queued" | "gathered" | "sent" | "suppressed" | "failed" | "dead" | "cancelled") | string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: components["responses"]["notifications.All"];
            400: components["responses"]["host.BadRequest"];
            401: components["responses"]["host.NotAuthenticated"];
            403: components["responses"]["notifications.Closed"];
            422: components["responses"]["host.Unprocessable"];
            429: components["responses"]["host.TooManyRequests"];
            500: components["responses"]["host.InternalError"];
            503: components["responses"]["host.Unavailable"];
            504: components["responses"]["host.TimedOut"];
        };
    };
    "notifications.one": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description Id of the notification, as its list shows it
                 * @example 0191f2c0-7d5a-7b7e-9d2b-3c1f5a0e4b11
                 */
                id: components["parameters"]["notifications.Id"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: components["responses"]["notifications.One"];
            400: components["responses"]["host.BadRequest"];
            401: components["responses"]["host.NotAuthenticated"];
            403: components["responses"]["notifications.Closed"];
            404: components["responses"]["host.NotFound"];
            422: components["responses"]["host.Unprocessable"];
            429: components["responses"]["host.TooManyRequests"];
            500: components["responses"]["host.InternalError"];
            503: components["responses"]["host.Unavailable"];
            504: components["responses"]["host.TimedOut"];
        };
    };
    "notifications.cancel": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description Id of the notification, as its list shows it
                 * @example 0191f2c0-7d5a-7b7e-9d2b-3c1f5a0e4b11
                 */
                id: components["parameters"]["notifications.Id"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: components["responses"]["notifications.Again"];
            400: components["responses"]["host.BadRequest"];
            401: components["responses"]["host.NotAuthenticated"];
            403: components["responses"]["notifications.Closed"];
            408: components["responses"]["host.BodyTooSlow"];
            409: components["responses"]["host.Conflict"];
            413: components["responses"]["host.TooLarge"];
            422: components["responses"]["host.Unprocessable"];
            429: components["responses"]["host.TooManyRequests"];
            500: components["responses"]["host.InternalError"];
            503: components["responses"]["host.Unavailable"];
            504: components["responses"]["host.TimedOut"];
        };
    };
    "notifications.requeue": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description Id of the notification, as its list shows it
                 * @example 0191f2c0-7d5a-7b7e-9d2b-3c1f5a0e4b11
                 */
                id: components["parameters"]["notifications.Id"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: components["responses"]["notifications.Again"];
            400: components["responses"]["host.BadRequest"];
            401: components["responses"]["host.NotAuthenticated"];
            403: components["responses"]["notifications.Closed"];
            404: components["responses"]["host.NotFound"];
            408: components["responses"]["host.BodyTooSlow"];
            413: components["responses"]["host.TooLarge"];
            422: components["responses"]["host.Unprocessable"];
            429: components["responses"]["host.TooManyRequests"];
            500: components["responses"]["host.InternalError"];
            503: components["responses"]["host.Unavailable"];
            504: components["responses"]["host.TimedOut"];
        };
    };
    "notifications.broadcasts": {
        parameters: {
            query?: {
                /** @description `next_cursor` of the page before */
                cursor?: components["parameters"]["notifications.Cursor"];
                /**
                 * @description How many of them the answer holds at most
                 * @example 20
                 */
                limit?: components["parameters"]["notifications.Limit"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: components["responses"]["notifications.Broadcasts"];
            400: components["responses"]["host.BadRequest"];
            401: components["responses"]["host.NotAuthenticated"];
            403: components["responses"]["notifications.Closed"];
            422: components["responses"]["host.Unprocessable"];
            429: components["responses"]["host.TooManyRequests"];
            500: components["responses"]["host.InternalError"];
            503: components["responses"]["host.Unavailable"];
            504: components["responses"]["host.TimedOut"];
        };
    };
    "notifications.broadcast": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description `broadcast_id` of the answer that began it
                 * @example 0191f2c0-7d5a-7b7e-9d2b-3c1f5a0e4b11
                 */
                id: components["parameters"]["notifications.BroadcastId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: components["responses"]["notifications.Broadcast"];
            400: components["responses"]["host.BadRequest"];
            401: components["responses"]["host.NotAuthenticated"];
            403: components["responses"]["notifications.Closed"];
            404: components["responses"]["host.NotFound"];
            422: components["responses"]["host.Unprocessable"];
            429: components["responses"]["host.TooManyRequests"];
            500: components["responses"]["host.InternalError"];
            503: components["responses"]["host.Unavailable"];
            504: components["responses"]["host.TimedOut"];
        };
    };
    "notifications.cancel_broadcast": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description `broadcast_id` of the answer that began it
                 * @example 0191f2c0-7d5a-7b7e-9d2b-3c1f5a0e4b11
                 */
                id: components["parameters"]["notifications.BroadcastId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: components["responses"]["notifications.Steered"];
            400: components["responses"]["host.BadRequest"];
            401: components["responses"]["host.NotAuthenticated"];
            403: components["responses"]["notifications.Closed"];
            404: components["responses"]["host.NotFound"];
            408: components["responses"]["host.BodyTooSlow"];
            409: components["responses"]["host.Conflict"];
            413: components["responses"]["host.TooLarge"];
            422: components["responses"]["host.Unprocessable"];
            429: components["responses"]["host.TooManyRequests"];
            500: components["responses"]["host.InternalError"];
            503: components["responses"]["host.Unavailable"];
            504: components["responses"]["host.TimedOut"];
        };
    };
    "notifications.pause_broadcast": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description `broadcast_id` of the answer that began it
                 * @example 0191f2c0-7d5a-7b7e-9d2b-3c1f5a0e4b11
                 */
                id: components["parameters"]["notifications.BroadcastId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: components["responses"]["notifications.Steered"];
            400: components["responses"]["host.BadRequest"];
            401: components["responses"]["host.NotAuthenticated"];
            403: components["responses"]["notifications.Closed"];
            404: components["responses"]["host.NotFound"];
            408: components["responses"]["host.BodyTooSlow"];
            409: components["responses"]["host.Conflict"];
            413: components["responses"]["host.TooLarge"];
            422: components["responses"]["host.Unprocessable"];
            429: components["responses"]["host.TooManyRequests"];
            500: components["responses"]["host.InternalError"];
            503: components["responses"]["host.Unavailable"];
            504: components["responses"]["host.TimedOut"];
        };
    };
    "notifications.resume_broadcast": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description `broadcast_id` of the answer that began it
                 * @example 0191f2c0-7d5a-7b7e-9d2b-3c1f5a0e4b11
                 */
                id: components["parameters"]["notifications.BroadcastId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: components["responses"]["notifications.Steered"];
            400: components["responses"]["host.BadRequest"];
            401: components["responses"]["host.NotAuthenticated"];
            403: components["responses"]["notifications.Closed"];
            404: components["responses"]["host.NotFound"];
            408: components["responses"]["host.BodyTooSlow"];
            409: components["responses"]["host.Conflict"];
            413: components["responses"]["host.TooLarge"];
            422: components["responses"]["host.Unprocessable"];
            429: components["responses"]["host.TooManyRequests"];
            500: components["responses"]["host.InternalError"];
            503: components["responses"]["host.Unavailable"];
            504: components["responses"]["host.TimedOut"];
        };
    };
    "notifications.trigger": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: components["requestBodies"]["notifications.Trigger"];
        responses: {
            200: components["responses"]["notifications.Triggered"];
            400: components["responses"]["host.BadRequest"];
            401: components["responses"]["host.NotAuthenticated"];
            403: components["responses"]["notifications.Closed"];
            404: components["responses"]["host.NotFound"];
            408: components["responses"]["host.BodyTooSlow"];
            413: components["responses"]["host.TooLarge"];
            422: components["responses"]["host.Unprocessable"];
            429: components["responses"]["host.TooManyRequests"];
            500: components["responses"]["host.InternalError"];
            503: components["responses"]["host.Unavailable"];
            504: components["responses"]["host.TimedOut"];
        };
    };
    "host.queues": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Queues by name, nodes by their start */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "queues": [
                     *         {
                     *           "queue": "runs",
                     *           "ready": 0,
                     *           "scheduled": 2,
                     *           "running": 17,
                     *           "dead": 0,
                     *           "oldest_ready_seconds": 0
                     *         }
                     *       ],
                     *       "nodes": [
                     *         {
                     *           "id": "01964e6a-3a1e-7c44-9d3b-4f1f5a2b6c7d",
                     *           "this": true,
                     *           "started_at": "2026-11-20T09:30:00.000Z",
                     *           "running": 17
                     *         }
                     *       ]
                     *     }
                     */
                    "application/json": components["schemas"]["host.Queues"];
                };
            };
            401: components["responses"]["host.NotAuthenticated"];
            403: components["responses"]["host.Forbidden"];
            429: components["responses"]["host.TooManyRequests"];
            500: components["responses"]["host.InternalError"];
            503: components["responses"]["host.Unavailable"];
            504: components["responses"]["host.TimedOut"];
        };
    };
    "referrals.flagged": {
        parameters: {
            query?: {
                /** @description `next_cursor` of the page before */
                cursor?: string;
                /**
                 * @description How many of them the answer holds at most
                 * @example 20
                 */
                limit?: components["parameters"]["referrals.Limit"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page, newest first */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "referrals": [
                     *         {
                     *           "id": "0191f2c0-7d5a-7b7e-9d2b-3c1f5a0e4b11",
                     *           "referrer_id": "0191f2c0-0000-7b7e-9d2b-3c1f5a0e4b11",
                     *           "referred_account_id": "0191f2c0-1111-7b7e-9d2b-3c1f5a0e4b11",
                     *           "referral_code": "K7QX4MPA",
                     *           "referred_at": "2026-11-20T09:30:00.000Z",
                     *           "signals": [
                     *             "same_network"
                     *           ]
                     *         }
                     *       ],
                     *       "next_cursor": null
                     *     }
                     */
                    "application/json": {
                        next_cursor: string | null;
                        referrals: {
                            /** Format: uuid */
                            id: string;
                            referral_code: string;
                            /** Format: uuid */
                            referred_account_id: string;
                            /** Format: date-time */
                            referred_at: string;
                            /** Format: uuid */
                            referrer_id: string;
                            /** @description What made it suspicious */
                            signals: unknown;
                        }[];
                    };
                };
            };
            400: components["responses"]["host.BadRequest"];
            401: components["responses"]["host.NotAuthenticated"];
            403: components["responses"]["host.Forbidden"];
            422: components["responses"]["host.Unprocessable"];
            429: components["responses"]["host.TooManyRequests"];
            500: components["responses"]["host.InternalError"];
            503: components["responses"]["host.Unavailable"];
            504: components["responses"]["host.TimedOut"];
        };
    };
    "referrals.flag": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description Id of the referral, as its list shows it
                 * @example 0191f2c0-7d5a-7b7e-9d2b-3c1f5a0e4b11
                 */
                id: components["parameters"]["referrals.Id"];
            };
            cookie?: never;
        };
        requestBody?: components["requestBodies"]["referrals.Reason"];
        responses: {
            200: components["responses"]["referrals.Reviewed"];
            400: components["responses"]["host.BadRequest"];
            401: components["responses"]["host.NotAuthenticated"];
            403: components["responses"]["host.Forbidden"];
            404: components["responses"]["host.NotFound"];
            408: components["responses"]["host.BodyTooSlow"];
            409: components["responses"]["host.Conflict"];
            413: components["responses"]["host.TooLarge"];
            422: components["responses"]["host.Unprocessable"];
            429: components["responses"]["host.TooManyRequests"];
            500: components["responses"]["host.InternalError"];
            503: components["responses"]["host.Unavailable"];
            504: components["responses"]["host.TimedOut"];
        };
    };
    "referrals.release": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description Id of the referral, as its list shows it
                 * @example 0191f2c0-7d5a-7b7e-9d2b-3c1f5a0e4b11
                 */
                id: components["parameters"]["referrals.Id"];
            };
            cookie?: never;
        };
        requestBody?: components["requestBodies"]["referrals.Reason"];
        responses: {
            200: components["responses"]["referrals.Reviewed"];
            400: components["responses"]["host.BadRequest"];
            401: components["responses"]["host.NotAuthenticated"];
            403: components["responses"]["host.Forbidden"];
            404: components["responses"]["host.NotFound"];
            408: components["responses"]["host.BodyTooSlow"];
            409: components["responses"]["host.Conflict"];
            413: components["responses"]["host.TooLarge"];
            422: components["responses"]["host.Unprocessable"];
            429: components["responses"]["host.TooManyRequests"];
            500: components["responses"]["host.InternalError"];
            503: components["responses"]["host.Unavailable"];
            504: components["responses"]["host.TimedOut"];
        };
    };
    "referrals.revoke": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description Id of the referral, as its list shows it
                 * @example 0191f2c0-7d5a-7b7e-9d2b-3c1f5a0e4b11
                 */
                id: components["parameters"]["referrals.Id"];
            };
            cookie?: never;
        };
        requestBody?: components["requestBodies"]["referrals.Reason"];
        responses: {
            200: components["responses"]["referrals.Reviewed"];
            400: components["responses"]["host.BadRequest"];
            401: components["responses"]["host.NotAuthenticated"];
            403: components["responses"]["host.Forbidden"];
            404: components["responses"]["host.NotFound"];
            408: components["responses"]["host.BodyTooSlow"];
            409: components["responses"]["host.Conflict"];
            413: components["responses"]["host.TooLarge"];
            422: components["responses"]["host.Unprocessable"];
            429: components["responses"]["host.TooManyRequests"];
            500: components["responses"]["host.InternalError"];
            503: components["responses"]["host.Unavailable"];
            504: components["responses"]["host.TimedOut"];
        };
    };
    "referrals.resume": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description A referral code
                 * @example K7QX4MPA
                 */
                code: string;
            };
            cookie?: never;
        };
        requestBody?: components["requestBodies"]["referrals.Reason"];
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "success": true,
                     *       "referral_code": "K7QX4MPA",
                     *       "action": "resume"
                     *     }
                     */
                    "application/json": {
                        /** @constant */
                        action: "resume";
                        referral_code: string;
                        /** @constant */
                        success: true;
                    };
                };
            };
            400: components["responses"]["host.BadRequest"];
            401: components["responses"]["host.NotAuthenticated"];
            403: components["responses"]["host.Forbidden"];
            404: components["responses"]["host.NotFound"];
            408: components["responses"]["host.BodyTooSlow"];
            409: components["responses"]["host.Conflict"];
            413: components["responses"]["host.TooLarge"];
            422: components["responses"]["host.Unprocessable"];
            429: components["responses"]["host.TooManyRequests"];
            500: components["responses"]["host.InternalError"];
            503: components["responses"]["host.Unavailable"];
            504: components["responses"]["host.TimedOut"];
        };
    };
    "referrals.suspend": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description A referral code
                 * @example K7QX4MPA
                 */
                code: string;
            };
            cookie?: never;
        };
        requestBody?: components["requestBodies"]["referrals.Reason"];
        responses: {
            /** @description Done */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "success": true,
                     *       "referral_code": "K7QX4MPA",
                     *       "action": "suspend"
                     *     }
                     */
                    "application/json": {
                        /** @constant */
                        action: "suspend";
                        referral_code: string;
                        /** @constant */
                        success: true;
                    };
                };
            };
            400: components["responses"]["host.BadRequest"];
            401: components["responses"]["host.NotAuthenticated"];
            403: components["responses"]["host.Forbidden"];
            404: components["responses"]["host.NotFound"];
            408: components["responses"]["host.BodyTooSlow"];
            409: components["responses"]["host.Conflict"];
            413: components["responses"]["host.TooLarge"];
            422: components["responses"]["host.Unprocessable"];
            429: components["responses"]["host.TooManyRequests"];
            500: components["responses"]["host.InternalError"];
            503: components["responses"]["host.Unavailable"];
            504: components["responses"]["host.TimedOut"];
        };
    };
    "runs.live": {
        parameters: {
            query?: {
                /** @description Only runs of this account */
                account_id?: string;
                /** @description Only runs of this agent */
                agent_id?: string;
                /** @description `next_cursor` of the page before */
                cursor?: components["parameters"]["runs.Cursor"];
                /** @description Only runs that ended with this error code */
                error_code?: string;
                /** @description Started at this time or later: 2026-11-20 or 2026-11-20T09:30:00Z */
                from?: string;
                /**
                 * @description How many of them the answer holds at most
                 * @example 20
                 */
                limit?: components["parameters"]["runs.Limit"];
                /** @description Only runs with this model */
                model?: string;
                /** @description Only runs that ended for this reason */
                reason?: string;
                /** @description Only runs with this status; all: with any */
                status?: "all" | "running" | "completed" | "failed" | "stopped";
                /** @description Only runs of this thread */
                thread_id?: string;
                /** @description Started before this time */
                to?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description One page */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "runs": [
                     *         {
                     *           "agent_run_id": "01964e6a-3a1e-7c44-9d3b-4f1f5a2b6c7d",
                     *           "thread_id": "01964e6a-3a1e-7c44-9d3b-4f1f5a2b6c7e",
                     *           "account_id": "01964e6a-3a1e-7c44-9d3b-4f1f5a2b6c7f",
                     *           "agent_id": "01964e6a-3a1e-7c44-9d3b-4f1f5a2b6c71",
                     *           "model": "runyard/basic",
                     *           "status": "running",
                     *           "reason": null,
                     *           "error": null,
                     *           "error_code": null,
                     *           "waiting": false,
                     *           "steps": 2,
                     *           "started_at": "2026-11-20T09:30:00.000Z",
                     *           "completed_at": null,
                     *           "node": "01964e6a-3a1e-7c44-9d3b-4f1f5a2b6c70",
                     *           "crashes": 0
                     *         }
                     *       ],
                     *       "next_cursor": null
                     *     }
                     */
                    "application/json": {
                        next_cursor: string | null;
                        runs: {
                            /** Format: uuid */
                            account_id: string;
                            /** Format: uuid */
                            agent_id: string;
                            /** Format: uuid */
                            agent_run_id: string;
                            /** Format: date-time */
                            completed_at: string | null;
                            /** @description Nodes that vanished while they worked on it */
                            crashes: number;
                            /** @description As its owner sees it */
                            error: string | null;
                            error_code: string | null;
                            model: string;
                            /**
                             * Format: uuid
                             * @description Which works on it; null: none at this moment
                             */
                            node: string | null;
                            reason: string | null;
                            /** Format: date-time */
                            started_at: string;
                            /** @enum {unknown} */
                            status: "running" | "completed" | "failed" | "stopped";
                            /** @description Answers of the model that are persisted */
                            steps: number;
                            /** Format: uuid */
                            thread_id: string;
                            /** @description For a free slot, or for the thread's earlier run */
                            waiting: boolean;
                        }[];
                    };
                };
            };
            400: components["responses"]["host.BadRequest"];
            401: components["responses"]["host.NotAuthenticated"];
            403: components["responses"]["host.Forbidden"];
            422: components["responses"]["host.Unprocessable"];
            429: components["responses"]["host.TooManyRequests"];
            500: components["responses"]["host.InternalError"];
            503: components["responses"]["host.Unavailable"];
            504: components["responses"]["host.TimedOut"];
        };
    };
    "runs.adminRun": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description Id of the run
                 * @example 0190b1e4-0000-7000-8000-000000000001
                 */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The run */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "agent_run_id": "01964e6a-3a1e-7c44-9d3b-4f1f5a2b6c7d",
                     *       "account_id": "01964e6a-3a1e-7c44-9d3b-4f1f5a2b6c7f",
                     *       "thread_id": "01964e6a-3a1e-7c44-9d3b-4f1f5a2b6c7e",
                     *       "agent_id": "01964e6a-3a1e-7c44-9d3b-4f1f5a2b6c71",
                     *       "model": "runyard/basic",
                     *       "status": "failed",
                     *       "reason": "llm_error",
                     *       "error": "The model provider refused the request",
                     *       "error_code": "LLM_ERROR",
                     *       "steps": 0,
                     *       "started_at": "2026-11-20T09:30:00.000Z",
                     *       "completed_at": "2026-11-20T09:30:01.000Z",
                     *       "stop_requested_at": null,
                     *       "timeout_seconds": 3000,
                     *       "node": null,
                     *       "crashes": 0,
                     *       "usage": {
                     *         "input_tokens": 0,
                     *         "output_tokens": 0,
                     *         "cached_tokens": 0,
                     *         "credits": 0
                     *       },
                     *       "causes": [
                     *         {
                     *           "at": "2026-11-20T09:30:00.900Z",
                     *           "step": 1,
                     *           "text": "provider main: The model provider refused the request (status 400)"
                     *         }
                     *       ]
                     *     }
                     */
                    "application/json": {
                        /** Format: uuid */
                        account_id: string;
                        /** Format: uuid */
                        agent_id: string;
                        /** Format: uuid */
                        agent_run_id: string;
                        /** @description The last errors of providers and of the server, at most ten, which only operators see */
                        causes: {
                            /** Format: date-time */
                            at: string;
                            step: number;
                            text: string;
                        }[];
                        /** Format: date-time */
                        completed_at: string | null;
                        crashes: number;
                        duration_ms?: number | null;
                        /** @description As its owner sees it */
                        error: string | null;
                        error_code: string | null;
                        /**
                         * Format: uuid
                         * @description The same as agent_run_id
                         */
                        id?: string;
                        memory_enabled?: boolean;
                        /** @enum {unknown} */
                        mode?: "agent" | "chat" | "code";
                        model: string;
                        /** @description The same as model */
                        model_name?: string;
                        /** Format: uuid */
                        node: string | null;
                        /** @description Model parameters given at the start */
                        parameters?: Record<string, never> | null;
                        /** Format: uuid */
                        project_id?: string;
                        queue_position?: number | null;
                        queue_wait_ms?: number | null;
                        reason: string | null;
                        /** Format: date-time */
                        started_at: string;
                        /** @enum {unknown} */
                        status: "running" | "completed" | "failed" | "stopped";
                        steps: number;
                        /** Format: date-time */
                        stop_requested_at: string | null;
                        /** Format: uuid */
                        thread_id: string;
                        time_to_first_token_ms?: number | null;
                        timeout_seconds: number;
                        usage: Record<string, never>;
                        /** @description For a free slot, or for the thread's earlier run */
                        waiting?: boolean;
                    };
                };
            };
            400: components["responses"]["host.BadRequest"];
            401: components["responses"]["host.NotAuthenticated"];
            403: components["responses"]["host.Forbidden"];
            404: components["responses"]["host.NotFound"];
            422: components["responses"]["host.Unprocessable"];
            429: components["responses"]["host.TooManyRequests"];
            500: components["responses"]["host.InternalError"];
            503: components["responses"]["host.Unavailable"];
            504: components["responses"]["host.TimedOut"];
        };
    };
    "webhooks.list": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The receivers of the configuration */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "endpoints": [
                     *         {
                     *           "name": "billing",
                     *           "url": "https://example.com/hooks",
                     *           "events": [
                     *             "credits.*"
                     *           ],
                     *           "delivered": 12,
                     *           "last_success_at": "2026-11-20T09:30:00.000Z",
                     *           "failing_since": null,
                     *           "last_error": null,
                     *           "disabled_at": null
                     *         }
                     *       ]
                     *     }
                     */
                    "application/json": {
                        endpoints: components["schemas"]["webhooks.Endpoint"][];
                    };
                };
            };
            401: components["responses"]["host.NotAuthenticated"];
            403: components["responses"]["host.Forbidden"];
            429: components["responses"]["host.TooManyRequests"];
            500: components["responses"]["host.InternalError"];
            503: components["responses"]["host.Unavailable"];
            504: components["responses"]["host.TimedOut"];
        };
    };
    "webhooks.enable": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The receiver's name in the settings
                 * @example billing
                 */
                name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description It is told from now on */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "status": "ok"
                     *     }
                     */
                    "application/json": {
                        /** @constant */
                        status: "ok";
                    };
                };
            };
            401: components["responses"]["host.NotAuthenticated"];
            403: components["responses"]["host.Forbidden"];
            404: components["responses"]["host.NotFound"];
            408: components["responses"]["host.BodyTooSlow"];
            413: components["responses"]["host.TooLarge"];
            422: components["responses"]["host.Unprocessable"];
            429: components["responses"]["host.TooManyRequests"];
            500: components["responses"]["host.InternalError"];
            503: components["responses"]["host.Unavailable"];
            504: components["responses"]["host.TimedOut"];
        };
    };
    "webhooks.test": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The receiver's name in the settings
                 * @example billing
                 */
                name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description It will be sent; the id is its webhook-id */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "test_0193494e-7c00-7000-8000-000000000001"
                     *     }
                     */
                    "application/json": {
                        id: string;
                    };
                };
            };
            401: components["responses"]["host.NotAuthenticated"];
            403: components["responses"]["host.Forbidden"];
            404: components["responses"]["host.NotFound"];
            408: components["responses"]["host.BodyTooSlow"];
            409: components["responses"]["host.Conflict"];
            413: components["responses"]["host.TooLarge"];
            422: components["responses"]["host.Unprocessable"];
            429: components["responses"]["host.TooManyRequests"];
            500: components["responses"]["host.InternalError"];
            503: components["responses"]["host.Unavailable"];
            504: components["responses"]["host.TimedOut"];
        };
    };
    "runs.get": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description Id of the run: `agent_run_id` of its start
                 * @example 0191f2c0-7d5a-7b7e-9d2b-3c1f5a0e4b11
                 */
                id: components["parameters"]["runs.RunId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: components["responses"]["runs.Run"];
            400: components["responses"]["host.BadRequest"];
            401: components["responses"]["host.NotAuthenticated"];
            403: components["responses"]["host.ForeignSite"];
            404: components["responses"]["runs.UnknownRun"];
            422: components["responses"]["host.Unprocessable"];
            429: components["responses"]["host.TooManyRequests"];
            500: components["responses"]["host.InternalError"];
            503: components["responses"]["host.Unavailable"];
            504: components["responses"]["host.TimedOut"];
        };
    };
    "runs.status": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description Id of the run: `agent_run_id` of its start
                 * @example 0191f2c0-7d5a-7b7e-9d2b-3c1f5a0e4b11
                 */
                id: components["parameters"]["runs.RunId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: components["responses"]["runs.Run"];
            400: components["responses"]["host.BadRequest"];
            401: components["responses"]["host.NotAuthenticated"];
            403: components["responses"]["host.ForeignSite"];
            404: components["responses"]["runs.UnknownRun"];
            422: components["responses"]["host.Unprocessable"];
            429: components["responses"]["host.TooManyRequests"];
            500: components["responses"]["host.InternalError"];
            503: components["responses"]["host.Unavailable"];
            504: components["responses"]["host.TimedOut"];
        };
    };
    "runs.stop": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description Id of the run: `agent_run_id` of its start
                 * @example 0191f2c0-7d5a-7b7e-9d2b-3c1f5a0e4b11
                 */
                id: components["parameters"]["runs.RunId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: components["responses"]["runs.Stopped"];
            400: components["responses"]["host.BadRequest"];
            401: components["responses"]["host.NotAuthenticated"];
            403: components["responses"]["host.ForeignSite"];
            404: components["responses"]["runs.UnknownRun"];
            408: components["responses"]["host.BodyTooSlow"];
            413: components["responses"]["host.TooLarge"];
            422: components["responses"]["host.Unprocessable"];
            429: components["responses"]["host.TooManyRequests"];
            500: components["responses"]["host.InternalError"];
            503: components["responses"]["host.Unavailable"];
            504: components["responses"]["host.TimedOut"];
        };
    };
    "runs.stream": {
        parameters: {
            query?: {
                /** @description Neighbouring chunks wait so long and come as one event */
                coalesce_ms?: number;
                /** @description As the header `Last-Event-ID`, for clients that cannot set one */
                last_event_id?: number;
                /** @description As the header `Last-Event-ID`, for clients that cannot set one */
                last_id?: number;
                /** @description In any case. snapshot: first one event in the place of everything so far */
                mode?: ("events" | "snapshot") | string;
            };
            header?: {
                /**
                 * @description The last event that the client has
                 * @example 41
                 */
                "Last-Event-ID"?: number;
            };
            path: {
                /**
                 * @description Id of the run: `agent_run_id` of its start
                 * @example 0191f2c0-7d5a-7b7e-9d2b-3c1f5a0e4b11
                 */
                id: components["parameters"]["runs.RunId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Events */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example id: 1
                     *     data: {"type": "status", "sequence": 1, "status": "running"}
                     *
                     *     id: 2
                     *     data: {"type": "llm_response_start", "sequence": 2, "step": 1, "attempt": 1, "model": "mock/basic"}
                     */
                    "text/event-stream": string;
                };
            };
            /** @description The client has the terminal event */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["host.BadRequest"];
            401: components["responses"]["host.NotAuthenticated"];
            403: components["responses"]["host.ForeignSite"];
            404: components["responses"]["runs.UnknownRun"];
            422: components["responses"]["host.Unprocessable"];
            429: components["responses"]["host.TooManyRequests"];
            500: components["responses"]["host.InternalError"];
            503: components["responses"]["host.Unavailable"];
        };
    };
    "runs.stream_token": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description Id of the run: `agent_run_id` of its start
                 * @example 0191f2c0-7d5a-7b7e-9d2b-3c1f5a0e4b11
                 */
                id: components["parameters"]["runs.RunId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description For `?token=` */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "token": "c3RyZWFt",
                     *       "expires_in": 3600
                     *     }
                     */
                    "application/json": {
                        /** @description Seconds */
                        expires_in: number;
                        token: string;
                    };
                };
            };
            400: components["responses"]["host.BadRequest"];
            401: components["responses"]["host.NotAuthenticated"];
            403: components["responses"]["host.ForeignSite"];
            404: components["responses"]["runs.UnknownRun"];
            408: components["responses"]["host.BodyTooSlow"];
            413: components["responses"]["host.TooLarge"];
            422: components["responses"]["host.Unprocessable"];
            429: components["responses"]["host.TooManyRequests"];
            500: components["responses"]["host.InternalError"];
            503: components["responses"]["host.Unavailable"];
            504: components["responses"]["host.TimedOut"];
        };
    };
    "runs.list": {
        parameters: {
            query?: {
                /** @description `next_cursor` of the page before */
                cursor?: components["parameters"]["runs.Cursor"];
                /**
                 * @description How many of them the answer holds at most
                 * @example 20
                 */
                limit?: components["parameters"]["runs.Limit"];
                /**
                 * @description Only runs with this status, in any case; empty: with any
                 * @example running
                 */
                status?: ("" | "running" | "completed" | "failed" | "stopped") | string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: components["responses"]["runs.Runs"];
            400: components["responses"]["host.BadRequest"];
            401: components["responses"]["host.NotAuthenticated"];
            403: components["responses"]["host.ForeignSite"];
            422: components["responses"]["host.Unprocessable"];
            429: components["responses"]["host.TooManyRequests"];
            500: components["responses"]["host.InternalError"];
            503: components["responses"]["host.Unavailable"];
            504: components["responses"]["host.TimedOut"];
        };
    };
    "runs.get_alias": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description Id of the run: `agent_run_id` of its start
                 * @example 0191f2c0-7d5a-7b7e-9d2b-3c1f5a0e4b11
                 */
                id: components["parameters"]["runs.RunId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: components["responses"]["runs.Run"];
            400: components["responses"]["host.BadRequest"];
            401: components["responses"]["host.NotAuthenticated"];
            403: components["responses"]["host.ForeignSite"];
            404: components["responses"]["runs.UnknownRun"];
            422: components["responses"]["host.Unprocessable"];
            429: components["responses"]["host.TooManyRequests"];
            500: components["responses"]["host.InternalError"];
            503: components["responses"]["host.Unavailable"];
            504: components["responses"]["host.TimedOut"];
        };
    };
    "runs.status_alias": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description Id of the run: `agent_run_id` of its start
                 * @example 0191f2c0-7d5a-7b7e-9d2b-3c1f5a0e4b11
                 */
                id: components["parameters"]["runs.RunId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: components["responses"]["runs.Run"];
            400: components["responses"]["host.BadRequest"];
            401: components["responses"]["host.NotAuthenticated"];
            403: components["responses"]["host.ForeignSite"];
            404: components["responses"]["runs.UnknownRun"];
            422: components["responses"]["host.Unprocessable"];
            429: components["responses"]["host.TooManyRequests"];
            500: components["responses"]["host.InternalError"];
            503: components["responses"]["host.Unavailable"];
            504: components["responses"]["host.TimedOut"];
        };
    };
    "runs.stop_alias": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description Id of the run: `agent_run_id` of its start
                 * @example 0191f2c0-7d5a-7b7e-9d2b-3c1f5a0e4b11
                 */
                id: components["parameters"]["runs.RunId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: components["responses"]["runs.Stopped"];
            400: components["responses"]["host.BadRequest"];
            401: components["responses"]["host.NotAuthenticated"];
            403: components["responses"]["host.ForeignSite"];
            404: components["responses"]["runs.UnknownRun"];
            408: components["responses"]["host.BodyTooSlow"];
            413: components["responses"]["host.TooLarge"];
            422: components["responses"]["host.Unprocessable"];
            429: components["responses"]["host.TooManyRequests"];
            500: components["responses"]["host.InternalError"];
            503: components["responses"]["host.Unavailable"];
            504: components["responses"]["host.TimedOut"];
        };
    };
    "runs.active": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Newest first, a thousand at most */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "active_runs": []
                     *     }
                     */
                    "application/json": {
                        active_runs: components["schemas"]["runs.Run"][];
                    };
                };
            };
            401: components["responses"]["host.NotAuthenticated"];
            403: components["responses"]["host.ForeignSite"];
            429: components["responses"]["host.TooManyRequests"];
            500: components["responses"]["host.InternalError"];
            503: components["responses"]["host.Unavailable"];
            504: components["responses"]["host.TimedOut"];
        };
    };
    "runs.start": {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description A name for this start, chosen by the client. A start that is sent again under the same name within a day is answered as the first was, and begins nothing
                 * @example 5b0e1f9c-start-1
                 */
                "Idempotency-Key"?: string;
                /** @description `true` of a super admin: `timing_breakdown` is in the answer */
                "X-Emit-Timing"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "prompt": "What is new"
                 *     }
                 */
                "application/x-www-form-urlencoded": components["schemas"]["runs.StartForm"];
                /**
                 * @example {
                 *       "prompt": "What changed in the log since yesterday",
                 *       "model_name": "runyard/basic"
                 *     }
                 */
                "multipart/form-data": components["schemas"]["runs.StartForm"];
            };
        };
        responses: {
            /** @description It runs, or waits for a slot */
            200: {
                headers: {
                    "Idempotency-Replayed"?: "true";
                    "Server-Timing"?: string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "thread_id": "0191f2c0-7d5a-7b7e-9d2b-3c1f5a0e4b11",
                     *       "agent_run_id": "0191f2c0-7d5a-7b7e-9d2b-3c1f5a0e4b11",
                     *       "project_id": "0191f2c0-7d5a-7b7e-9d2b-3c1f5a0e4b11",
                     *       "status": "running"
                     *     }
                     */
                    "application/json": components["schemas"]["runs.Started"];
                };
            };
            400: components["responses"]["host.BadRequest"];
            401: components["responses"]["host.NotAuthenticated"];
            /** @description Credits, plan or limits do not allow it */
            402: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["runs.NotAllowed"];
                };
            };
            403: components["responses"]["host.ForeignSite"];
            /** @description Thread, project or agent are not the caller's */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "detail": "Thread not found"
                     *     }
                     */
                    "application/json": components["schemas"]["host.Error"];
                };
            };
            408: components["responses"]["host.BodyTooSlow"];
            /** @description The thread has a run, or the key was used before */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "detail": {
                     *         "message": "The thread has a run in progress",
                     *         "agent_run_id": "0191f2c0-7d5a-7b7e-9d2b-3c1f5a0e4b11",
                     *         "error_code": "THREAD_BUSY"
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["host.Error"];
                };
            };
            /** @description Files beyond the plan's limits */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "detail": {
                     *         "message": "report.pdf is larger than 10 MiB",
                     *         "limit": 10485760
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["host.Error"];
                };
            };
            415: components["responses"]["host.UnsupportedMediaType"];
            422: components["responses"]["host.Unprocessable"];
            429: components["responses"]["host.TooManyRequests"];
            /** @description It could not be started */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "detail": "Failed to start agent: internal error"
                     *     }
                     */
                    "application/json": components["schemas"]["host.Error"];
                };
            };
            503: components["responses"]["host.Unavailable"];
            504: components["responses"]["host.TimedOut"];
            /** @description No room for the upload */
            507: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "detail": "No room to store the upload"
                     *     }
                     */
                    "application/json": components["schemas"]["host.Error"];
                };
            };
        };
    };
    "agents.list": {
        parameters: {
            query?: {
                /** @description `next_cursor` of the page before */
                cursor?: components["parameters"]["agents.Cursor"];
                /**
                 * @description How many of them the answer holds at most
                 * @example 20
                 */
                limit?: components["parameters"]["agents.Limit"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        agents: components["schemas"]["agents.Agent"][];
                        next_cursor: components["schemas"]["agents.NextCursor"];
                    };
                };
            };
            400: components["responses"]["host.BadRequest"];
            401: components["responses"]["host.NotAuthenticated"];
            403: components["responses"]["host.ForeignSite"];
            422: components["responses"]["host.Unprocessable"];
            429: components["responses"]["host.TooManyRequests"];
            500: components["responses"]["host.InternalError"];
            503: components["responses"]["host.Unavailable"];
            504: components["responses"]["host.TimedOut"];
        };
    };
    "agents.create": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: components["requestBodies"]["agents.New"];
        responses: {
            /** @description Made */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["agents.Agent"];
                };
            };
            400: components["responses"]["host.BadRequest"];
            401: components["responses"]["host.NotAuthenticated"];
            402: components["responses"]["agents.TooManyServers"];
            403: components["responses"]["agents.NoServers"];
            408: components["responses"]["host.BodyTooSlow"];
            413: components["responses"]["host.TooLarge"];
            422: components["responses"]["host.Unprocessable"];
            429: components["responses"]["host.TooManyRequests"];
            500: components["responses"]["host.InternalError"];
            503: components["responses"]["host.Unavailable"];
            504: components["responses"]["host.TimedOut"];
        };
    };
    "mcp.discover": {
        parameters: {
            query?: never;
            header: {
                /**
                 * @description `no-cache` asks the server anew
                 * @example no-cache
                 */
                "Cache-Control"?: string;
                /**
                 * @description A JSON object of headers for the server
                 * @example {"Authorization": "Bearer abc"}
                 */
                "X-MCP-Headers"?: string;
                /**
                 * @description The kind of the server; `sse` when it is left out
                 * @example http
                 */
                "X-MCP-Type"?: components["schemas"]["mcp.Type"];
                /**
                 * @description The server's URL, or the id of a profile
                 * @example https://mcp.example.org/mcp
                 */
                "X-MCP-URL": string;
            };
            path: {
                /**
                 * @description Id of the agent, as the list of agents shows it
                 * @example 0191f2c0-7d5a-7b7e-9d2b-3c1f5a0e4b11
                 */
                agent_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description What it offers */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "tools": [
                     *         {
                     *           "name": "search",
                     *           "description": "Finds pages",
                     *           "enabled": true
                     *         }
                     *       ],
                     *       "has_mcp_config": true,
                     *       "server_type": "http",
                     *       "server_url": "https://mcp.example.org/mcp"
                     *     }
                     */
                    "application/json": {
                        /** @description The agent has this server */
                        has_mcp_config: boolean;
                        server_type: components["schemas"]["mcp.Type"];
                        server_url: string;
                        tools: {
                            description: string;
                            enabled: boolean;
                            name: string;
                        }[];
                    };
                };
            };
            400: components["responses"]["mcp.Invalid"];
            401: components["responses"]["host.NotAuthenticated"];
            403: components["responses"]["mcp.Disabled"];
            404: components["responses"]["mcp.UnknownAgent"];
            422: components["responses"]["host.Unprocessable"];
            429: components["responses"]["host.TooManyRequests"];
            500: components["responses"]["host.InternalError"];
            502: components["responses"]["mcp.ServerFailed"];
            503: components["responses"]["host.Unavailable"];
            504: components["responses"]["mcp.ServerFailed"];
        };
    };
    "mcp.replace": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description Id of the agent, as the list of agents shows it
                 * @example 0191f2c0-7d5a-7b7e-9d2b-3c1f5a0e4b11
                 */
                agent_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "custom_mcps": [
                 *         {
                 *           "name": "Docs",
                 *           "type": "http",
                 *           "config": {
                 *             "url": "https://mcp.example.org/mcp",
                 *             "headers": {
                 *               "Authorization": "Bearer abc"
                 *             }
                 *           },
                 *           "enabledTools": [
                 *             "search"
                 *           ]
                 *         }
                 *       ]
                 *     }
                 */
                "application/json": {
                    custom_mcps?: components["schemas"]["mcp.ServerIn"][];
                    /** @description The same */
                    customMcps?: components["schemas"]["mcp.ServerIn"][];
                } | unknown | unknown;
            };
        };
        responses: {
            /** @description The list as it is now */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "success": true,
                     *       "data": {
                     *         "custom_mcps": [
                     *           {
                     *             "name": "Docs",
                     *             "type": "http",
                     *             "config": {
                     *               "url": "https://mcp.example.org/mcp",
                     *               "headers": {
                     *                 "Authorization": "********"
                     *               }
                     *             },
                     *             "enabledTools": [
                     *               "search"
                     *             ]
                     *           }
                     *         ],
                     *         "total_enabled_tools": 1
                     *       }
                     *     }
                     */
                    "application/json": {
                        data: {
                            custom_mcps: components["schemas"]["mcp.Server"][];
                            total_enabled_tools: number;
                        };
                        /** @constant */
                        success: true;
                    };
                };
            };
            400: components["responses"]["mcp.Invalid"];
            401: components["responses"]["host.NotAuthenticated"];
            402: components["responses"]["mcp.TooManyServers"];
            403: components["responses"]["mcp.Disabled"];
            404: components["responses"]["mcp.UnknownAgent"];
            408: components["responses"]["host.BodyTooSlow"];
            413: components["responses"]["host.TooLarge"];
            422: components["responses"]["host.Unprocessable"];
            429: components["responses"]["host.TooManyRequests"];
            500: components["responses"]["host.InternalError"];
            503: components["responses"]["host.Unavailable"];
            504: components["responses"]["host.TimedOut"];
        };
    };
    "mcp.enable": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description Id of the agent, as the list of agents shows it
                 * @example 0191f2c0-7d5a-7b7e-9d2b-3c1f5a0e4b11
                 */
                agent_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "url": "https://mcp.example.org/mcp",
                 *       "type": "http",
                 *       "enabled_tools": [
                 *         "search"
                 *       ]
                 *     }
                 */
                "application/json": {
                    enabled_tools?: components["schemas"]["mcp.Names"];
                    /** @description The same */
                    enabledTools?: components["schemas"]["mcp.Names"];
                    /** @description Headers for the requests to the server, stored encrypted. Default: those of `X-MCP-Headers`. */
                    headers?: {
                        [key: string]: string;
                    };
                    type?: components["schemas"]["mcp.Type"];
                    /** @description The server's URL, or the id of a profile */
                    url: string;
                } | unknown | unknown;
            };
        };
        responses: {
            /** @description Enabled */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "success": true,
                     *       "enabled_tools": [
                     *         "search"
                     *       ],
                     *       "total_tools": 1
                     *     }
                     */
                    "application/json": {
                        enabled_tools: components["schemas"]["mcp.Names"];
                        /** @constant */
                        success: true;
                        /** @description How many are enabled of this server */
                        total_tools: number;
                    };
                };
            };
            400: components["responses"]["mcp.Invalid"];
            401: components["responses"]["host.NotAuthenticated"];
            402: components["responses"]["mcp.TooManyServers"];
            403: components["responses"]["mcp.Disabled"];
            404: components["responses"]["mcp.UnknownAgent"];
            408: components["responses"]["host.BodyTooSlow"];
            413: components["responses"]["host.TooLarge"];
            422: components["responses"]["host.Unprocessable"];
            429: components["responses"]["host.TooManyRequests"];
            500: components["responses"]["host.InternalError"];
            503: components["responses"]["host.Unavailable"];
            504: components["responses"]["host.TimedOut"];
        };
    };
    "mcp.changed_definitions": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description Id of the agent, as the list of agents shows it
                 * @example 0191f2c0-7d5a-7b7e-9d2b-3c1f5a0e4b11
                 */
                agent_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The changes */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "changes": [
                     *         {
                     *           "server": "Docs",
                     *           "tool": "search",
                     *           "changed": [
                     *             "description"
                     *           ],
                     *           "on_tool_change": "ask",
                     *           "description": "Finds pages and sends them by mail",
                     *           "parameters": {
                     *             "type": "object"
                     *           },
                     *           "read_only": false,
                     *           "fingerprint": "0f1e.2d3c.4b5a.6978"
                     *         }
                     *       ],
                     *       "unreachable": []
                     *     }
                     */
                    "application/json": {
                        changes: {
                            changed: ("description" | "parameters" | "result" | "annotations")[];
                            /** @description The current description of the tool */
                            description: string;
                            /** @description Fingerprint of this definition; approve it with this value */
                            fingerprint: string;
                            /** @enum {unknown} */
                            on_tool_change: "ask" | "block";
                            /** @description The current JSON Schema of the arguments */
                            parameters: unknown;
                            read_only: boolean;
                            /** @description Name of the server in the agent's list */
                            server: string;
                            tool: string;
                        }[];
                        /** @description Servers that could not be reached */
                        unreachable: string[];
                    };
                };
            };
            401: components["responses"]["host.NotAuthenticated"];
            403: components["responses"]["mcp.Disabled"];
            404: components["responses"]["mcp.UnknownAgent"];
            422: components["responses"]["host.Unprocessable"];
            429: components["responses"]["host.TooManyRequests"];
            500: components["responses"]["host.InternalError"];
            503: components["responses"]["host.Unavailable"];
            504: components["responses"]["host.TimedOut"];
        };
    };
    "mcp.approve_definition": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description Id of the agent, as the list of agents shows it
                 * @example 0191f2c0-7d5a-7b7e-9d2b-3c1f5a0e4b11
                 */
                agent_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "server": "Docs",
                 *       "tool": "search",
                 *       "fingerprint": "0f1e.2d3c.4b5a.6978"
                 *     }
                 */
                "application/json": {
                    /** @description Value from the list of changes */
                    fingerprint: string;
                    server: string;
                    tool: string;
                };
            };
        };
        responses: {
            /** @description Approved for all agents of the account with this server */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "success": true
                     *     }
                     */
                    "application/json": {
                        /** @constant */
                        success: true;
                    };
                };
            };
            400: components["responses"]["mcp.Invalid"];
            401: components["responses"]["host.NotAuthenticated"];
            403: components["responses"]["mcp.Disabled"];
            404: components["responses"]["mcp.UnknownAgent"];
            408: components["responses"]["host.BodyTooSlow"];
            /** @description The definition has changed again since it was shown */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "detail": "fingerprint: the definition of the tool has changed again, or is not the one of this server"
                     *     }
                     */
                    "application/json": components["schemas"]["host.Error"];
                };
            };
            413: components["responses"]["host.TooLarge"];
            422: components["responses"]["host.Unprocessable"];
            429: components["responses"]["host.TooManyRequests"];
            500: components["responses"]["host.InternalError"];
            502: components["responses"]["mcp.ServerFailed"];
            503: components["responses"]["host.Unavailable"];
            504: components["responses"]["mcp.ServerFailed"];
        };
    };
    "agents.get": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description Id of the agent, as the list of agents shows it
                 * @example 0191f2c0-7d5a-7b7e-9d2b-3c1f5a0e4b11
                 */
                id: components["parameters"]["agents.Id"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description As it is now */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["agents.Agent"];
                };
            };
            400: components["responses"]["host.BadRequest"];
            401: components["responses"]["host.NotAuthenticated"];
            403: components["responses"]["host.ForeignSite"];
            404: components["responses"]["agents.Unknown"];
            422: components["responses"]["host.Unprocessable"];
            429: components["responses"]["host.TooManyRequests"];
            500: components["responses"]["host.InternalError"];
            503: components["responses"]["host.Unavailable"];
            504: components["responses"]["host.TimedOut"];
        };
    };
    "agents.update": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description Id of the agent, as the list of agents shows it
                 * @example 0191f2c0-7d5a-7b7e-9d2b-3c1f5a0e4b11
                 */
                id: components["parameters"]["agents.Id"];
            };
            cookie?: never;
        };
        requestBody: components["requestBodies"]["agents.Change"];
        responses: {
            /** @description As it is now */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["agents.Agent"];
                };
            };
            400: components["responses"]["host.BadRequest"];
            401: components["responses"]["host.NotAuthenticated"];
            402: components["responses"]["agents.TooManyServers"];
            403: components["responses"]["agents.NoServers"];
            404: components["responses"]["agents.Unknown"];
            408: components["responses"]["host.BodyTooSlow"];
            /** @description The agent has another version than `expected_version` */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "detail": "The agent was changed meanwhile"
                     *     }
                     */
                    "application/json": components["schemas"]["host.Error"];
                };
            };
            413: components["responses"]["host.TooLarge"];
            422: components["responses"]["host.Unprocessable"];
            429: components["responses"]["host.TooManyRequests"];
            500: components["responses"]["host.InternalError"];
            503: components["responses"]["host.Unavailable"];
            504: components["responses"]["host.TimedOut"];
        };
    };
    "agents.delete": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description Id of the agent, as the list of agents shows it
                 * @example 0191f2c0-7d5a-7b7e-9d2b-3c1f5a0e4b11
                 */
                id: components["parameters"]["agents.Id"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Removed */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["host.BadRequest"];
            401: components["responses"]["host.NotAuthenticated"];
            403: components["responses"]["host.ForeignSite"];
            404: components["responses"]["agents.Unknown"];
            408: components["responses"]["host.BodyTooSlow"];
            /** @description The default agent stays */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "detail": "The default worker cannot be deleted"
                     *     }
                     */
                    "application/json": components["schemas"]["host.Error"];
                };
            };
            413: components["responses"]["host.TooLarge"];
            422: components["responses"]["host.Unprocessable"];
            429: components["responses"]["host.TooManyRequests"];
            500: components["responses"]["host.InternalError"];
            503: components["responses"]["host.Unavailable"];
            504: components["responses"]["host.TimedOut"];
        };
    };
    "agents.versions": {
        parameters: {
            query?: {
                /** @description `next_cursor` of the page before */
                cursor?: components["parameters"]["agents.Cursor"];
                /**
                 * @description How many of them the answer holds at most
                 * @example 20
                 */
                limit?: components["parameters"]["agents.Limit"];
            };
            header?: never;
            path: {
                /**
                 * @description Id of the agent, as the list of agents shows it
                 * @example 0191f2c0-7d5a-7b7e-9d2b-3c1f5a0e4b11
                 */
                id: components["parameters"]["agents.Id"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "versions": [
                     *         {
                     *           "agent_id": "0191f2c0-7d5a-7b7e-9d2b-3c1f5a0e4b11",
                     *           "version": 2,
                     *           "name": "Researcher",
                     *           "description": "Reads and sums up",
                     *           "system_prompt": "You read carefully.",
                     *           "model_name": null,
                     *           "custom_mcps": [],
                     *           "is_current": true,
                     *           "created_at": "2026-11-21T11:00:00.000Z"
                     *         }
                     *       ],
                     *       "next_cursor": null
                     *     }
                     */
                    "application/json": {
                        next_cursor: components["schemas"]["agents.NextCursor"];
                        versions: components["schemas"]["agents.Version"][];
                    };
                };
            };
            400: components["responses"]["host.BadRequest"];
            401: components["responses"]["host.NotAuthenticated"];
            403: components["responses"]["host.ForeignSite"];
            404: components["responses"]["agents.Unknown"];
            422: components["responses"]["host.Unprocessable"];
            429: components["responses"]["host.TooManyRequests"];
            500: components["responses"]["host.InternalError"];
            503: components["responses"]["host.Unavailable"];
            504: components["responses"]["host.TimedOut"];
        };
    };
    "accounts.list_keys": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Without the keys themselves */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "api_keys": [
                     *         {
                     *           "id": "4f2a9c0d1e3b5a67",
                     *           "name": "ci",
                     *           "created_at": "2026-11-20T09:30:00.000Z",
                     *           "expires_at": null,
                     *           "last_used_at": null
                     *         }
                     *       ]
                     *     }
                     */
                    "application/json": {
                        api_keys: components["schemas"]["accounts.ApiKey"][];
                    };
                };
            };
            401: components["responses"]["host.NotAuthenticated"];
            403: components["responses"]["host.ForeignSite"];
            429: components["responses"]["host.TooManyRequests"];
            500: components["responses"]["host.InternalError"];
            503: components["responses"]["host.Unavailable"];
            504: components["responses"]["host.TimedOut"];
        };
    };
    "accounts.create_key": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                /**
                 * @example {
                 *       "name": "ci",
                 *       "expires_in_days": 90
                 *     }
                 */
                "application/json": {
                    expires_in_days?: number | null;
                    /** @default API key */
                    name?: string | null;
                };
            };
        };
        responses: {
            /** @description Made */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "4f2a9c0d1e3b5a67",
                     *       "name": "ci",
                     *       "created_at": "2026-11-20T09:30:00.000Z",
                     *       "expires_at": "2027-02-18T09:30:00.000Z",
                     *       "key": "ry_4f2a9c0d1e3b5a67_c2VjcmV0"
                     *     }
                     */
                    "application/json": {
                        /** Format: date-time */
                        created_at: string;
                        /** Format: date-time */
                        expires_at: string | null;
                        id: string;
                        /** @description For `Authorization: Bearer` */
                        key: string;
                        name: string;
                    };
                };
            };
            400: components["responses"]["host.BadRequest"];
            401: components["responses"]["host.NotAuthenticated"];
            403: components["responses"]["accounts.NeedsToken"];
            408: components["responses"]["host.BodyTooSlow"];
            409: components["responses"]["host.Conflict"];
            413: components["responses"]["host.TooLarge"];
            422: components["responses"]["host.Unprocessable"];
            429: components["responses"]["host.TooManyRequests"];
            500: components["responses"]["host.InternalError"];
            503: components["responses"]["host.Unavailable"];
            504: components["responses"]["host.TimedOut"];
        };
    };
    "accounts.revoke_key": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The id that the list of keys shows; not the key itself
                 * @example 4f2a9c0d1e3b5a67
                 */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Good for nothing from now on */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            401: components["responses"]["host.NotAuthenticated"];
            403: components["responses"]["accounts.NeedsToken"];
            404: components["responses"]["host.NotFound"];
            408: components["responses"]["host.BodyTooSlow"];
            413: components["responses"]["host.TooLarge"];
            422: components["responses"]["host.Unprocessable"];
            429: components["responses"]["host.TooManyRequests"];
            500: components["responses"]["host.InternalError"];
            503: components["responses"]["host.Unavailable"];
            504: components["responses"]["host.TimedOut"];
        };
    };
    "notifications.deliveries_alias": {
        parameters: {
            query?: {
                /** @description `next_cursor` of the page before */
                cursor?: components["parameters"]["notifications.Cursor"];
                /**
                 * @description How many of them the answer holds at most
                 * @example 20
                 */
                limit?: components["parameters"]["notifications.Limit"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: components["responses"]["notifications.Deliveries"];
            400: components["responses"]["host.BadRequest"];
            401: components["responses"]["host.NotAuthenticated"];
            403: components["responses"]["notifications.Closed"];
            422: components["responses"]["host.Unprocessable"];
            429: components["responses"]["host.TooManyRequests"];
            500: components["responses"]["host.InternalError"];
            503: components["responses"]["host.Unavailable"];
            504: components["responses"]["host.TimedOut"];
        };
    };
    "notifications.add_device_alias": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: components["requestBodies"]["notifications.Device"];
        responses: {
            200: components["responses"]["notifications.Said"];
            400: components["responses"]["host.BadRequest"];
            401: components["responses"]["host.NotAuthenticated"];
            403: components["responses"]["notifications.Closed"];
            408: components["responses"]["host.BodyTooSlow"];
            413: components["responses"]["host.TooLarge"];
            422: components["responses"]["host.Unprocessable"];
            429: components["responses"]["host.TooManyRequests"];
            500: components["responses"]["host.InternalError"];
            503: components["responses"]["host.Unavailable"];
            504: components["responses"]["host.TimedOut"];
        };
    };
    "notifications.drop_device_alias": {
        parameters: {
            query?: {
                /**
                 * @description In any case. Else whichever it is
                 * @example expo
                 */
                provider?: string;
            };
            header?: never;
            path: {
                /**
                 * @description The token as it was registered, percent-encoded
                 * @example ExponentPushToken[xxxxxxxxxxxxxxxxxxxxxx]
                 */
                device_token: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: components["responses"]["notifications.Said"];
            401: components["responses"]["host.NotAuthenticated"];
            403: components["responses"]["notifications.Closed"];
            408: components["responses"]["host.BodyTooSlow"];
            413: components["responses"]["host.TooLarge"];
            422: components["responses"]["host.Unprocessable"];
            429: components["responses"]["host.TooManyRequests"];
            500: components["responses"]["host.InternalError"];
            503: components["responses"]["host.Unavailable"];
            504: components["responses"]["host.TimedOut"];
        };
    };
    "notifications.inbox_alias": {
        parameters: {
            query?: {
                /** @description `next_cursor` of the page before */
                cursor?: components["parameters"]["notifications.Cursor"];
                /**
                 * @description How many of them the answer holds at most
                 * @example 20
                 */
                limit?: components["parameters"]["notifications.Limit"];
                /** @description Only what was not read */
                unread?: ("true" | "false") | string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: components["responses"]["notifications.Inbox"];
            400: components["responses"]["host.BadRequest"];
            401: components["responses"]["host.NotAuthenticated"];
            403: components["responses"]["notifications.Closed"];
            422: components["responses"]["host.Unprocessable"];
            429: components["responses"]["host.TooManyRequests"];
            500: components["responses"]["host.InternalError"];
            503: components["responses"]["host.Unavailable"];
            504: components["responses"]["host.TimedOut"];
        };
    };
    "notifications.read_alias": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description Id of the notification, as its list shows it
                 * @example 0191f2c0-7d5a-7b7e-9d2b-3c1f5a0e4b11
                 */
                id: components["parameters"]["notifications.Id"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: components["responses"]["notifications.Marked"];
            400: components["responses"]["host.BadRequest"];
            401: components["responses"]["host.NotAuthenticated"];
            403: components["responses"]["notifications.Closed"];
            404: components["responses"]["host.NotFound"];
            408: components["responses"]["host.BodyTooSlow"];
            413: components["responses"]["host.TooLarge"];
            422: components["responses"]["host.Unprocessable"];
            429: components["responses"]["host.TooManyRequests"];
            500: components["responses"]["host.InternalError"];
            503: components["responses"]["host.Unavailable"];
            504: components["responses"]["host.TimedOut"];
        };
    };
    "notifications.read_all_alias": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: components["responses"]["notifications.Marked"];
            401: components["responses"]["host.NotAuthenticated"];
            403: components["responses"]["notifications.Closed"];
            408: components["responses"]["host.BodyTooSlow"];
            413: components["responses"]["host.TooLarge"];
            429: components["responses"]["host.TooManyRequests"];
            500: components["responses"]["host.InternalError"];
            503: components["responses"]["host.Unavailable"];
            504: components["responses"]["host.TimedOut"];
        };
    };
    "notifications.inbox_stream_alias": {
        parameters: {
            query?: {
                /** @description As the header `Last-Event-ID`, for clients that cannot set one */
                last_event_id?: number;
            };
            header?: {
                /** @description Goes on after it; without it from now on */
                "Last-Event-ID"?: number;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: components["responses"]["notifications.Stream"];
            400: components["responses"]["host.BadRequest"];
            401: components["responses"]["host.NotAuthenticated"];
            403: components["responses"]["notifications.Closed"];
            429: components["responses"]["host.TooManyRequests"];
            500: components["responses"]["host.InternalError"];
            503: components["responses"]["host.Unavailable"];
        };
    };
    "notifications.inbox_stream_token_alias": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: components["responses"]["notifications.Token"];
            401: components["responses"]["host.NotAuthenticated"];
            403: components["responses"]["notifications.Closed"];
            408: components["responses"]["host.BodyTooSlow"];
            413: components["responses"]["host.TooLarge"];
            429: components["responses"]["host.TooManyRequests"];
            500: components["responses"]["host.InternalError"];
            503: components["responses"]["host.Unavailable"];
            504: components["responses"]["host.TimedOut"];
        };
    };
    "notifications.unread_count_alias": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: components["responses"]["notifications.UnreadCount"];
            401: components["responses"]["host.NotAuthenticated"];
            403: components["responses"]["notifications.Closed"];
            429: components["responses"]["host.TooManyRequests"];
            500: components["responses"]["host.InternalError"];
            503: components["responses"]["host.Unavailable"];
            504: components["responses"]["host.TimedOut"];
        };
    };
    "notifications.preferences_alias": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: components["responses"]["notifications.Preferences"];
            401: components["responses"]["host.NotAuthenticated"];
            403: components["responses"]["notifications.Closed"];
            429: components["responses"]["host.TooManyRequests"];
            500: components["responses"]["host.InternalError"];
            503: components["responses"]["host.Unavailable"];
            504: components["responses"]["host.TimedOut"];
        };
    };
    "notifications.put_preferences_alias": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: components["requestBodies"]["notifications.Preferences"];
        responses: {
            200: components["responses"]["notifications.ChangedPreferences"];
            400: components["responses"]["host.BadRequest"];
            401: components["responses"]["host.NotAuthenticated"];
            403: components["responses"]["notifications.Closed"];
            408: components["responses"]["host.BodyTooSlow"];
            413: components["responses"]["host.TooLarge"];
            422: components["responses"]["host.Unprocessable"];
            429: components["responses"]["host.TooManyRequests"];
            500: components["responses"]["host.InternalError"];
            503: components["responses"]["host.Unavailable"];
            504: components["responses"]["host.TimedOut"];
        };
    };
    "notifications.settings_alias": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: components["responses"]["notifications.Settings"];
            401: components["responses"]["host.NotAuthenticated"];
            403: components["responses"]["notifications.Closed"];
            429: components["responses"]["host.TooManyRequests"];
            500: components["responses"]["host.InternalError"];
            503: components["responses"]["host.Unavailable"];
            504: components["responses"]["host.TimedOut"];
        };
    };
    "notifications.put_settings_alias": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: components["requestBodies"]["notifications.Settings"];
        responses: {
            200: components["responses"]["notifications.ChangedSettings"];
            400: components["responses"]["host.BadRequest"];
            401: components["responses"]["host.NotAuthenticated"];
            403: components["responses"]["notifications.Closed"];
            408: components["responses"]["host.BodyTooSlow"];
            413: components["responses"]["host.TooLarge"];
            422: components["responses"]["host.Unprocessable"];
            429: components["responses"]["host.TooManyRequests"];
            500: components["responses"]["host.InternalError"];
            503: components["responses"]["host.Unavailable"];
            504: components["responses"]["host.TimedOut"];
        };
    };
    "notifications.web_push_key_alias": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: components["responses"]["notifications.WebPushKey"];
            401: components["responses"]["host.NotAuthenticated"];
            403: components["responses"]["notifications.Closed"];
            404: components["responses"]["host.NotFound"];
            429: components["responses"]["host.TooManyRequests"];
            500: components["responses"]["host.InternalError"];
            503: components["responses"]["host.Unavailable"];
            504: components["responses"]["host.TimedOut"];
        };
    };
    "notifications.webhook_alias": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The name of the driver, or `orchestrator`
                 * @example orchestrator
                 */
                orchestrator: string;
            };
            cookie?: never;
        };
        requestBody: components["requestBodies"]["notifications.Webhook"];
        responses: {
            200: components["responses"]["notifications.Ok"];
            400: components["responses"]["host.BadRequest"];
            401: components["responses"]["host.NotAuthenticated"];
            403: components["responses"]["host.ForeignSite"];
            404: components["responses"]["host.NotFound"];
            408: components["responses"]["host.BodyTooSlow"];
            413: components["responses"]["host.TooLarge"];
            422: components["responses"]["host.Unprocessable"];
            429: components["responses"]["host.TooManyRequests"];
            500: components["responses"]["host.InternalError"];
            503: components["responses"]["host.Unavailable"];
            504: components["responses"]["host.TimedOut"];
        };
    };
    "notifications.presence_alias": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: components["requestBodies"]["notifications.Presence"];
        responses: {
            200: components["responses"]["notifications.Done"];
            400: components["responses"]["host.BadRequest"];
            401: components["responses"]["host.NotAuthenticated"];
            403: components["responses"]["host.ForeignSite"];
            408: components["responses"]["host.BodyTooSlow"];
            413: components["responses"]["host.TooLarge"];
            422: components["responses"]["host.Unprocessable"];
            429: components["responses"]["host.TooManyRequests"];
            500: components["responses"]["host.InternalError"];
            503: components["responses"]["host.Unavailable"];
            504: components["responses"]["host.TimedOut"];
        };
    };
    "referrals.code": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Made when it is asked for the first time */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "referral_code": "K7QX4MPA",
                     *       "referral_link": "https://app.example.org/auth?ref=K7QX4MPA"
                     *     }
                     */
                    "application/json": {
                        referral_code: string;
                        /** @description Null where the deployment has no public address */
                        referral_link: string | null;
                    };
                };
            };
            401: components["responses"]["host.NotAuthenticated"];
            403: components["responses"]["host.ForeignSite"];
            429: components["responses"]["host.TooManyRequests"];
            500: components["responses"]["host.InternalError"];
            503: components["responses"]["host.Unavailable"];
            504: components["responses"]["host.TimedOut"];
        };
    };
    "referrals.history": {
        parameters: {
            query?: {
                /**
                 * @description How many of them the answer holds at most
                 * @example 20
                 */
                limit?: components["parameters"]["referrals.Limit"];
                /**
                 * @description How many of the newest are passed over
                 * @example 0
                 */
                offset?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description At most `limit` of them */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example [
                     *       {
                     *         "id": "0191f2c0-7d5a-7b7e-9d2b-3c1f5a0e4b11",
                     *         "referrer_id": "0191f2c0-0000-7b7e-9d2b-3c1f5a0e4b11",
                     *         "referral_code": "K7QX4MPA",
                     *         "referred_account_id": "0191f2c0-1111-7b7e-9d2b-3c1f5a0e4b11",
                     *         "referred_at": "2026-11-20T09:30:00.000Z",
                     *         "status": "successful",
                     *         "credits_awarded": 100,
                     *         "reason": null,
                     *         "message": null
                     *       }
                     *     ]
                     */
                    "application/json": components["schemas"]["referrals.Referral"][];
                };
            };
            400: components["responses"]["host.BadRequest"];
            401: components["responses"]["host.NotAuthenticated"];
            403: components["responses"]["host.ForeignSite"];
            422: components["responses"]["host.Unprocessable"];
            429: components["responses"]["host.TooManyRequests"];
            500: components["responses"]["host.InternalError"];
            503: components["responses"]["host.Unavailable"];
            504: components["responses"]["host.TimedOut"];
        };
    };
    "referrals.received": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description `received` is null for an account that came by itself */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "received": {
                     *         "status": "pending",
                     *         "referred_at": "2026-11-20T09:30:00.000Z",
                     *         "credits": 0,
                     *         "bonus_credits": 100,
                     *         "reason": "not_qualified",
                     *         "message": "Confirm your e-mail address to receive your credits"
                     *       }
                     *     }
                     */
                    "application/json": {
                        received: {
                            /** @description To be received when the referral counts */
                            bonus_credits?: number;
                            /** @description Received so far */
                            credits?: number;
                            message?: string | null;
                            /** @description not_qualified, on_hold, under_review, cap_reached, same_mailbox or void; null: it has counted */
                            reason?: string | null;
                            /** Format: date-time */
                            referred_at?: string;
                            /** @enum {unknown} */
                            status?: "pending" | "successful";
                        } | null;
                    };
                };
            };
            401: components["responses"]["host.NotAuthenticated"];
            403: components["responses"]["host.ForeignSite"];
            429: components["responses"]["host.TooManyRequests"];
            500: components["responses"]["host.InternalError"];
            503: components["responses"]["host.Unavailable"];
            504: components["responses"]["host.TimedOut"];
        };
    };
    "referrals.refresh": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Refreshed */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "success": true,
                     *       "old_code": "K7QX4MPA",
                     *       "new_code": "9FWT2HNC",
                     *       "message": "Referral code refreshed"
                     *     }
                     */
                    "application/json": {
                        message: string;
                        new_code: string;
                        old_code: string;
                        /** @constant */
                        success: true;
                    };
                };
            };
            401: components["responses"]["host.NotAuthenticated"];
            /** @description The code is suspended */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "detail": "This referral code is suspended"
                     *     }
                     */
                    "application/json": components["schemas"]["host.Error"];
                };
            };
            408: components["responses"]["host.BodyTooSlow"];
            413: components["responses"]["host.TooLarge"];
            429: components["responses"]["host.TooManyRequests"];
            500: components["responses"]["host.InternalError"];
            503: components["responses"]["host.Unavailable"];
            504: components["responses"]["host.TimedOut"];
        };
    };
    "referrals.send": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "email": "friend@example.org"
                 *     }
                 */
                "application/json": {
                    email: string;
                };
            };
        };
        responses: {
            /** @description Sent or queued, or why not. `success` is true if the mail server accepted the e-mail or has not answered yet (`Referral email queued: ...`). If it refused the e-mail for good, `message` is `Failed to send email` */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "success": true,
                     *       "message": "Referral email sent"
                     *     }
                     */
                    "application/json": components["schemas"]["referrals.Sent"];
                };
            };
            400: components["responses"]["host.BadRequest"];
            401: components["responses"]["host.NotAuthenticated"];
            /** @description The code is suspended */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "detail": "This referral code is suspended"
                     *     }
                     */
                    "application/json": components["schemas"]["host.Error"];
                };
            };
            408: components["responses"]["host.BodyTooSlow"];
            413: components["responses"]["host.TooLarge"];
            422: components["responses"]["host.Unprocessable"];
            429: components["responses"]["host.TooManyRequests"];
            500: components["responses"]["host.InternalError"];
            503: components["responses"]["host.Unavailable"];
            504: components["responses"]["host.TimedOut"];
        };
    };
    "referrals.send_bulk": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "emails": [
                 *         "friend@example.org",
                 *         "other@example.org"
                 *       ]
                 *     }
                 */
                "application/json": {
                    emails: string[];
                };
            };
        };
        responses: {
            /** @description How it went with each address */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "success": true,
                     *       "message": "Sent 1 of 2 invitations",
                     *       "results": [
                     *         {
                     *           "email": "friend@example.org",
                     *           "success": true,
                     *           "message": "Referral email sent"
                     *         },
                     *         {
                     *           "email": "no address",
                     *           "success": false,
                     *           "message": "Invalid email address"
                     *         }
                     *       ],
                     *       "success_count": 1,
                     *       "total_count": 2
                     *     }
                     */
                    "application/json": {
                        message: string;
                        results: {
                            email: string;
                            message: string;
                            success: boolean;
                        }[];
                        /** @description At least one was sent or queued */
                        success: boolean;
                        success_count: number;
                        total_count: number;
                    };
                };
            };
            400: components["responses"]["host.BadRequest"];
            401: components["responses"]["host.NotAuthenticated"];
            /** @description The code is suspended */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "detail": "This referral code is suspended"
                     *     }
                     */
                    "application/json": components["schemas"]["host.Error"];
                };
            };
            408: components["responses"]["host.BodyTooSlow"];
            413: components["responses"]["host.TooLarge"];
            422: components["responses"]["host.Unprocessable"];
            429: components["responses"]["host.TooManyRequests"];
            500: components["responses"]["host.InternalError"];
            503: components["responses"]["host.Unavailable"];
            504: components["responses"]["host.TimedOut"];
        };
    };
    "referrals.stats": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Platform credits; 100 make a dollar */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "referral_code": "K7QX4MPA",
                     *       "total_referrals": 3,
                     *       "successful_referrals": 2,
                     *       "total_credits_earned": 200,
                     *       "remaining_earnable_credits": 9800,
                     *       "max_earnable_credits": 10000,
                     *       "has_reached_limit": false,
                     *       "last_referral_at": "2026-11-20T09:30:00.000Z",
                     *       "revoked_credits": 0
                     *     }
                     */
                    "application/json": {
                        has_reached_limit: boolean;
                        /** Format: date-time */
                        last_referral_at: string | null;
                        max_earnable_credits: number;
                        referral_code: string | null;
                        remaining_earnable_credits: number;
                        revoked_credits: number;
                        successful_referrals: number;
                        total_credits_earned: number;
                        /** @description Pending ones included */
                        total_referrals: number;
                    };
                };
            };
            401: components["responses"]["host.NotAuthenticated"];
            403: components["responses"]["host.ForeignSite"];
            429: components["responses"]["host.TooManyRequests"];
            500: components["responses"]["host.InternalError"];
            503: components["responses"]["host.Unavailable"];
            504: components["responses"]["host.TimedOut"];
        };
    };
    "referrals.validate": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "code": "k7qx4mpa"
                 *     }
                 */
                "application/json": {
                    /** @description In any case */
                    code: string;
                };
            };
        };
        responses: {
            /** @description The answer */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "valid": true,
                     *       "referrer_id": "0191f2c0-0000-7b7e-9d2b-3c1f5a0e4b11"
                     *     }
                     */
                    "application/json": {
                        /**
                         * @description Only if the owner of the code has reached the limit: a friend receives none
                         * @constant
                         */
                        credits?: 0;
                        /**
                         * Format: uuid
                         * @description The account of the code's owner; for anonymous clients an id derived from the code instead of the account id
                         */
                        referrer_id: string | null;
                        valid: boolean;
                    };
                };
            };
            400: components["responses"]["host.BadRequest"];
            403: components["responses"]["host.ForeignSite"];
            408: components["responses"]["host.BodyTooSlow"];
            413: components["responses"]["host.TooLarge"];
            422: components["responses"]["host.Unprocessable"];
            429: components["responses"]["host.TooManyRequests"];
            500: components["responses"]["host.InternalError"];
            503: components["responses"]["host.Unavailable"];
            504: components["responses"]["host.TimedOut"];
        };
    };
    "console.auth_page": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The page */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /** @example <!doctype html> */
                    "text/html": string;
                };
            };
            /** @description The page is the one that the caller has */
            304: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            403: components["responses"]["host.ForeignSite"];
            429: components["responses"]["host.TooManyRequests"];
            500: components["responses"]["host.InternalError"];
            503: components["responses"]["host.Unavailable"];
            504: components["responses"]["host.TimedOut"];
        };
    };
    "accounts.login_config": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description For a log-in page */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "local_login": true,
                     *       "verify": "email",
                     *       "min_password": 10
                     *     }
                     */
                    "application/json": {
                        local_login: boolean;
                        min_password?: number;
                        /**
                         * @description No account exists yet; the first sign-up requires the setup code
                         * @constant
                         */
                        setup?: true;
                        /** @enum {unknown} */
                        verify?: "email" | "none";
                    };
                };
            };
            403: components["responses"]["host.ForeignSite"];
            429: components["responses"]["host.TooManyRequests"];
            500: components["responses"]["host.InternalError"];
            503: components["responses"]["host.Unavailable"];
            504: components["responses"]["host.TimedOut"];
        };
    };
    "accounts.log_in": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "email": "ann@example.org",
                 *       "password": "correct horse battery"
                 *     }
                 */
                "application/json": {
                    email: string;
                    password: string;
                    /**
                     * @description cookie: the refresh token is set as an HttpOnly cookie, which scripts cannot read
                     * @enum {unknown}
                     */
                    session?: "body" | "cookie" | null;
                };
            };
        };
        responses: {
            200: components["responses"]["accounts.Tokens"];
            400: components["responses"]["host.BadRequest"];
            401: components["responses"]["accounts.Wrong"];
            403: components["responses"]["host.ForeignSite"];
            408: components["responses"]["host.BodyTooSlow"];
            413: components["responses"]["host.TooLarge"];
            415: components["responses"]["host.UnsupportedMediaType"];
            422: components["responses"]["host.Unprocessable"];
            429: components["responses"]["host.TooManyRequests"];
            500: components["responses"]["host.InternalError"];
            503: components["responses"]["host.Unavailable"];
            504: components["responses"]["host.TimedOut"];
        };
    };
    "accounts.log_out": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                /** @example {} */
                "application/json": {
                    refresh_token?: string | null;
                };
            };
        };
        responses: {
            /** @description Ended */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["host.BadRequest"];
            403: components["responses"]["host.ForeignSite"];
            408: components["responses"]["host.BodyTooSlow"];
            413: components["responses"]["host.TooLarge"];
            415: components["responses"]["host.UnsupportedMediaType"];
            422: components["responses"]["host.Unprocessable"];
            429: components["responses"]["host.TooManyRequests"];
            500: components["responses"]["host.InternalError"];
            503: components["responses"]["host.Unavailable"];
            504: components["responses"]["host.TimedOut"];
        };
    };
    "accounts.change_password": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "current_password": "correct horse battery",
                 *       "new_password": "staple battery horse"
                 *     }
                 */
                "application/json": {
                    current_password: string;
                    /**
                     * @description false: all API keys are revoked. An e-mail lists them in both cases
                     * @default false
                     */
                    keep_api_keys?: boolean;
                    new_password: string;
                };
            };
        };
        responses: {
            /** @description Changed. All other sessions are ended; API keys are revoked unless `keep_api_keys` is true */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["host.BadRequest"];
            401: components["responses"]["host.NotAuthenticated"];
            403: components["responses"]["accounts.Wrong"];
            404: components["responses"]["host.NotFound"];
            408: components["responses"]["host.BodyTooSlow"];
            409: components["responses"]["host.Conflict"];
            413: components["responses"]["host.TooLarge"];
            415: components["responses"]["host.UnsupportedMediaType"];
            422: components["responses"]["host.Unprocessable"];
            429: components["responses"]["host.TooManyRequests"];
            500: components["responses"]["host.InternalError"];
            503: components["responses"]["host.Unavailable"];
            504: components["responses"]["host.TimedOut"];
        };
    };
    "accounts.refresh": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                /**
                 * @example {
                 *       "refresh_token": "cmVmcmVzaA"
                 *     }
                 */
                "application/json": {
                    /** @description Default: the refresh token of the cookie */
                    refresh_token?: string | null;
                };
            };
        };
        responses: {
            200: components["responses"]["accounts.Tokens"];
            400: components["responses"]["host.BadRequest"];
            401: components["responses"]["host.NotAuthenticated"];
            403: components["responses"]["host.ForeignSite"];
            408: components["responses"]["host.BodyTooSlow"];
            413: components["responses"]["host.TooLarge"];
            415: components["responses"]["host.UnsupportedMediaType"];
            422: components["responses"]["host.Unprocessable"];
            429: components["responses"]["host.TooManyRequests"];
            500: components["responses"]["host.InternalError"];
            503: components["responses"]["host.Unavailable"];
            504: components["responses"]["host.TimedOut"];
        };
    };
    "accounts.ask_for_reset": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "email": "ann@example.org"
                 *     }
                 */
                "application/json": {
                    email: string;
                };
            };
        };
        responses: {
            /** @description Accepted. Only the e-mail says whether the account exists */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "status": "check_mail"
                     *     }
                     */
                    "application/json": {
                        /** @constant */
                        status: "check_mail";
                    };
                };
            };
            400: components["responses"]["host.BadRequest"];
            403: components["responses"]["host.ForeignSite"];
            408: components["responses"]["host.BodyTooSlow"];
            /** @description This server sends no e-mail */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "detail": "This server sends no mail: an administrator must help"
                     *     }
                     */
                    "application/json": components["schemas"]["host.Error"];
                };
            };
            413: components["responses"]["host.TooLarge"];
            415: components["responses"]["host.UnsupportedMediaType"];
            422: components["responses"]["host.Unprocessable"];
            429: components["responses"]["host.TooManyRequests"];
            500: components["responses"]["host.InternalError"];
            503: components["responses"]["host.Unavailable"];
            504: components["responses"]["host.TimedOut"];
        };
    };
    "accounts.finish_reset": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "token": "dG9rZW4",
                 *       "password": "correct horse battery"
                 *     }
                 */
                "application/json": {
                    password: string;
                    /**
                     * @description cookie: the refresh token is set as an HttpOnly cookie, which scripts cannot read
                     * @enum {unknown}
                     */
                    session?: "body" | "cookie" | null;
                    token: string;
                };
            };
        };
        responses: {
            200: components["responses"]["accounts.Tokens"];
            400: components["responses"]["accounts.LinkNotValid"];
            403: components["responses"]["host.ForeignSite"];
            408: components["responses"]["host.BodyTooSlow"];
            413: components["responses"]["host.TooLarge"];
            415: components["responses"]["host.UnsupportedMediaType"];
            422: components["responses"]["host.Unprocessable"];
            429: components["responses"]["host.TooManyRequests"];
            500: components["responses"]["host.InternalError"];
            503: components["responses"]["host.Unavailable"];
            504: components["responses"]["host.TimedOut"];
        };
    };
    "accounts.list_sessions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The latest first */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "sessions": [
                     *         {
                     *           "id": "0191f2c0-7d5a-7b7e-9d2b-3c1f5a0e4b11",
                     *           "user_agent": "Firefox",
                     *           "created_at": "2026-11-20T09:30:00.000Z",
                     *           "last_used_at": "2026-11-21T09:30:00.000Z",
                     *           "present": true
                     *         }
                     *       ]
                     *     }
                     */
                    "application/json": {
                        sessions: {
                            /** Format: date-time */
                            created_at: string;
                            /** Format: uuid */
                            id: string;
                            /** Format: date-time */
                            last_used_at: string;
                            /** @description This one */
                            present: boolean | null;
                            user_agent: string | null;
                        }[];
                    };
                };
            };
            401: components["responses"]["host.NotAuthenticated"];
            403: components["responses"]["host.ForeignSite"];
            429: components["responses"]["host.TooManyRequests"];
            500: components["responses"]["host.InternalError"];
            503: components["responses"]["host.Unavailable"];
            504: components["responses"]["host.TimedOut"];
        };
    };
    "accounts.end_sessions": {
        parameters: {
            query?: {
                /** @description true: also revokes all API keys */
                revoke_api_keys?: boolean;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Ended */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            401: components["responses"]["host.NotAuthenticated"];
            403: components["responses"]["accounts.Wrong"];
            408: components["responses"]["host.BodyTooSlow"];
            413: components["responses"]["host.TooLarge"];
            422: components["responses"]["host.Unprocessable"];
            429: components["responses"]["host.TooManyRequests"];
            500: components["responses"]["host.InternalError"];
            503: components["responses"]["host.Unavailable"];
            504: components["responses"]["host.TimedOut"];
        };
    };
    "accounts.end_session": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description A session of the caller, as the list of sessions shows it
                 * @example 0191f2c0-7d5a-7b7e-9d2b-3c1f5a0e4b11
                 */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Ended, or it was no session of this account */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["host.BadRequest"];
            401: components["responses"]["host.NotAuthenticated"];
            403: components["responses"]["accounts.Wrong"];
            408: components["responses"]["host.BodyTooSlow"];
            413: components["responses"]["host.TooLarge"];
            422: components["responses"]["host.Unprocessable"];
            429: components["responses"]["host.TooManyRequests"];
            500: components["responses"]["host.InternalError"];
            503: components["responses"]["host.Unavailable"];
            504: components["responses"]["host.TimedOut"];
        };
    };
    "accounts.sign_up": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "email": "ann@example.org",
                 *       "password": "correct horse battery",
                 *       "referral_code": "K7QX4MPA"
                 *     }
                 */
                "application/json": {
                    email: string;
                    name?: string | null;
                    password: string;
                    referral_code?: string | null;
                    /**
                     * @description cookie: the refresh token is set as an HttpOnly cookie, which scripts cannot read
                     * @enum {unknown}
                     */
                    session?: "body" | "cookie" | null;
                    /** @description Required if `/auth/config` contains `setup`: the setup code from the server's operator. The account becomes `super_admin` */
                    setup_code?: string | null;
                };
            };
        };
        responses: {
            201: components["responses"]["accounts.Tokens"];
            /** @description Accepted. Only the e-mail says whether the account exists */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "status": "check_mail",
                     *       "proof": "c2VjcmV0"
                     *     }
                     */
                    "application/json": {
                        /** @description For /auth/verify */
                        proof?: string;
                        /** @constant */
                        status: "check_mail";
                    };
                };
            };
            400: components["responses"]["host.BadRequest"];
            403: components["responses"]["accounts.Wrong"];
            408: components["responses"]["host.BodyTooSlow"];
            /** @description An account with this address exists; only if the server does not verify addresses */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "detail": "There is an account with this address already"
                     *     }
                     */
                    "application/json": components["schemas"]["host.Error"];
                };
            };
            413: components["responses"]["host.TooLarge"];
            415: components["responses"]["host.UnsupportedMediaType"];
            422: components["responses"]["host.Unprocessable"];
            429: components["responses"]["host.TooManyRequests"];
            500: components["responses"]["host.InternalError"];
            503: components["responses"]["host.Unavailable"];
            504: components["responses"]["host.TimedOut"];
        };
    };
    "accounts.verify": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "token": "dG9rZW4",
                 *       "proof": "c2VjcmV0"
                 *     }
                 */
                "application/json": {
                    password?: string | null;
                    proof?: string | null;
                    /**
                     * @description cookie: the refresh token is set as an HttpOnly cookie, which scripts cannot read
                     * @enum {unknown}
                     */
                    session?: "body" | "cookie" | null;
                    /** @description From the link */
                    token: string;
                };
            };
        };
        responses: {
            200: components["responses"]["accounts.Tokens"];
            400: components["responses"]["accounts.LinkNotValid"];
            403: components["responses"]["accounts.Wrong"];
            408: components["responses"]["host.BodyTooSlow"];
            413: components["responses"]["host.TooLarge"];
            415: components["responses"]["host.UnsupportedMediaType"];
            422: components["responses"]["host.Unprocessable"];
            429: components["responses"]["host.TooManyRequests"];
            500: components["responses"]["host.InternalError"];
            503: components["responses"]["host.Unavailable"];
            504: components["responses"]["host.TimedOut"];
        };
    };
    "accounts.identity_webhook": {
        parameters: {
            query?: never;
            header?: {
                /** @description Id of the message, the same in every attempt; `svix-id` is taken as well */
                "webhook-id"?: string;
                /** @description `v1,` and a signature, several of them with spaces between; `svix-signature` is taken as well */
                "webhook-signature"?: string;
                /** @description When the attempt was made, in Unix seconds; `svix-timestamp` is taken as well */
                "webhook-timestamp"?: string;
                /** @description One of `accounts.identity_webhook.tokens`, instead of a signature */
                "X-Webhook-Token"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "type": "user.created",
                 *       "data": {
                 *         "id": "0191f2c0-7d5a-7b7e-9d2b-3c1f5a0e4b11",
                 *         "email": "ann@example.org"
                 *       }
                 *     }
                 */
                "application/json": {
                    data?: unknown;
                    type?: unknown;
                } & {
                    [key: string]: unknown;
                };
            };
        };
        responses: {
            /** @description Taken */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "status": "ok"
                     *     }
                     */
                    "application/json": {
                        /** @constant */
                        status: "ok";
                    };
                };
            };
            400: components["responses"]["host.BadRequest"];
            /** @description The signature is wrong or too old */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "detail": "Invalid signature"
                     *     }
                     */
                    "application/json": components["schemas"]["host.Error"];
                };
            };
            403: components["responses"]["host.ForeignSite"];
            408: components["responses"]["host.BodyTooSlow"];
            413: components["responses"]["host.TooLarge"];
            422: components["responses"]["host.Unprocessable"];
            429: components["responses"]["host.TooManyRequests"];
            500: components["responses"]["host.InternalError"];
            /** @description An e-mail is to be sent and this server sends none */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "detail": "This server sends no mail: configure the module mail"
                     *     }
                     */
                    "application/json": components["schemas"]["host.Error"];
                };
            };
            504: components["responses"]["host.TimedOut"];
        };
    };
    "console.page": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The page */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /** @example <!doctype html> */
                    "text/html": string;
                };
            };
            /** @description The page is the one that the caller has */
            304: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            403: components["responses"]["host.ForeignSite"];
            429: components["responses"]["host.TooManyRequests"];
            500: components["responses"]["host.InternalError"];
            503: components["responses"]["host.Unavailable"];
            504: components["responses"]["host.TimedOut"];
        };
    };
    "console.asset": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description With a digest of its content
                 * @example app.0123456789ab.js
                 */
                name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The file */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "image/svg+xml": string;
                    "text/css": string;
                    "text/javascript": string;
                    "text/plain": string;
                };
            };
            /** @description The file is the one that the caller has */
            304: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            403: components["responses"]["host.ForeignSite"];
            404: components["responses"]["host.NotFound"];
            422: components["responses"]["host.Unprocessable"];
            429: components["responses"]["host.TooManyRequests"];
            500: components["responses"]["host.InternalError"];
            503: components["responses"]["host.Unavailable"];
            504: components["responses"]["host.TimedOut"];
        };
    };
    "console.worker": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The script */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /** @example self.addEventListener('push', show) */
                    "text/javascript": string;
                };
            };
            /** @description The script is the one that the caller has */
            304: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            403: components["responses"]["host.ForeignSite"];
            429: components["responses"]["host.TooManyRequests"];
            500: components["responses"]["host.InternalError"];
            503: components["responses"]["host.Unavailable"];
            504: components["responses"]["host.TimedOut"];
        };
    };
    "host.healthz": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description It lives */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "status": "ok"
                     *     }
                     */
                    "application/json": components["schemas"]["host.Health"];
                };
            };
            403: components["responses"]["host.ForeignSite"];
            429: components["responses"]["host.TooManyRequests"];
            500: components["responses"]["host.InternalError"];
            503: components["responses"]["host.Unavailable"];
            504: components["responses"]["host.TimedOut"];
        };
    };
    "mail.ask_unsubscribe": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description From the mail's link
                 * @example 0191f2c0-7d5a-4b7e-9d2b-3c1f5a0e4b11
                 */
                token: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The page */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /** @example <!doctype html> */
                    "text/html": string;
                };
            };
            403: components["responses"]["host.ForeignSite"];
            /** @description A page that says that the link is unknown */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /** @example <!doctype html> */
                    "text/html": string;
                };
            };
            422: components["responses"]["host.Unprocessable"];
            429: components["responses"]["host.TooManyRequests"];
            500: components["responses"]["host.InternalError"];
            503: components["responses"]["host.Unavailable"];
            504: components["responses"]["host.TimedOut"];
        };
    };
    "mail.unsubscribe": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description From the mail's link
                 * @example 0191f2c0-7d5a-4b7e-9d2b-3c1f5a0e4b11
                 */
                token: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "*/*": unknown;
                /**
                 * @example {
                 *       "List-Unsubscribe": "One-Click"
                 *     }
                 */
                "application/x-www-form-urlencoded": {
                    [key: string]: unknown;
                };
            };
        };
        responses: {
            /** @description Done; the page offers the way back */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /** @example <!doctype html> */
                    "text/html": string;
                };
            };
            403: components["responses"]["host.ForeignSite"];
            /** @description A page that says that the link is unknown */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /** @example <!doctype html> */
                    "text/html": string;
                };
            };
            408: components["responses"]["host.BodyTooSlow"];
            413: components["responses"]["host.TooLarge"];
            422: components["responses"]["host.Unprocessable"];
            429: components["responses"]["host.TooManyRequests"];
            500: components["responses"]["host.InternalError"];
            503: components["responses"]["host.Unavailable"];
            504: components["responses"]["host.TimedOut"];
        };
    };
    "mcp_prebuilt.callback": {
        parameters: {
            query?: {
                /** @description Authorization code, which the server exchanges for tokens */
                code?: string;
                /** @description Error of the authorization server, instead of a code */
                error?: string;
                /** @description Issuer (RFC 9207); must be the authorization server of the request */
                iss?: string;
                /** @description State of the authorization request; identifies the profile */
                state?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Connected */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /** @example <!doctype html> */
                    "text/html": string;
                };
            };
            /** @description Not connected; the page states the reason */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /** @example <!doctype html> */
                    "text/html": string;
                };
            };
            403: components["responses"]["host.ForeignSite"];
            429: components["responses"]["host.TooManyRequests"];
            /** @description Internal error of this server */
            500: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /** @example <!doctype html> */
                    "text/html": string;
                };
            };
            503: components["responses"]["host.Unavailable"];
            504: components["responses"]["host.TimedOut"];
        };
    };
    "mcp_prebuilt.client_document": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The document */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "client_id": "https://app.example.org/mcp/oauth/client",
                     *       "redirect_uris": [
                     *         "https://app.example.org/mcp/oauth/callback"
                     *       ],
                     *       "token_endpoint_auth_method": "none"
                     *     }
                     */
                    "application/json": {
                        [key: string]: unknown;
                    };
                };
            };
            403: components["responses"]["host.ForeignSite"];
            404: components["responses"]["host.NotFound"];
            429: components["responses"]["host.TooManyRequests"];
            500: components["responses"]["host.InternalError"];
            503: components["responses"]["host.Unavailable"];
            504: components["responses"]["host.TimedOut"];
        };
    };
    "mcp_prebuilt.ask_to_confirm": {
        parameters: {
            query?: {
                /** @description Ticket from `connect_url` */
                ticket?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The confirmation page */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /** @example <!doctype html> */
                    "text/html": string;
                };
            };
            /** @description The link is no longer valid */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /** @example <!doctype html> */
                    "text/html": string;
                };
            };
            403: components["responses"]["host.ForeignSite"];
            429: components["responses"]["host.TooManyRequests"];
            500: components["responses"]["host.InternalError"];
            503: components["responses"]["host.Unavailable"];
            504: components["responses"]["host.TimedOut"];
        };
    };
    "mcp_prebuilt.confirm": {
        parameters: {
            query?: {
                /** @description Token from the form of the confirmation page; bound to the cookie of the browser */
                confirm?: string;
                /** @description Ticket from `connect_url` */
                ticket?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Redirect to the authorization server */
            303: {
                headers: {
                    Location?: string;
                    [name: string]: unknown;
                };
                content: {
                    /** @example <!doctype html> */
                    "text/html": string;
                };
            };
            /** @description The link is no longer valid */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /** @example <!doctype html> */
                    "text/html": string;
                };
            };
            /** @description The browser did not open the confirmation page, or the token is wrong */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /** @example <!doctype html> */
                    "text/html": string;
                };
            };
            408: components["responses"]["host.BodyTooSlow"];
            413: components["responses"]["host.TooLarge"];
            429: components["responses"]["host.TooManyRequests"];
            500: components["responses"]["host.InternalError"];
            503: components["responses"]["host.Unavailable"];
            504: components["responses"]["host.TimedOut"];
        };
    };
    "mcp_prebuilt.list": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Without any credentials */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "profiles": [
                     *         {
                     *           "profile_id": "0191f2c0-7d5a-7b7e-9d2b-3c1f5a0e4b11",
                     *           "integration": null,
                     *           "display_name": "Docs",
                     *           "url": "https://mcp.example.org/mcp",
                     *           "connected": true
                     *         }
                     *       ],
                     *       "integrations": [
                     *         "crm"
                     *       ]
                     *     }
                     */
                    "application/json": {
                        /** @description What the operator offers */
                        integrations: string[];
                        profiles: components["schemas"]["mcp_prebuilt.Profile"][];
                    };
                };
            };
            401: components["responses"]["host.NotAuthenticated"];
            403: components["responses"]["mcp_prebuilt.Disabled"];
            429: components["responses"]["host.TooManyRequests"];
            500: components["responses"]["host.InternalError"];
            503: components["responses"]["host.Unavailable"];
            504: components["responses"]["host.TimedOut"];
        };
    };
    "mcp_prebuilt.create": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @description As the integration asks for them; never shown again */
                    credentials?: {
                        [key: string]: unknown;
                    } | null;
                    display_name?: string;
                    integration?: string;
                    /** @description All may be left out */
                    oauth?: {
                        client_id?: string;
                        client_secret?: string;
                        /** @enum {unknown} */
                        grant?: "authorization_code" | "client_credentials" | "id_jag";
                        /** @description id_jag: client id of this server at the identity provider */
                        idp_client_id?: string;
                        idp_client_secret?: string;
                        /** @description id_jag: the identity provider of the user's organization */
                        idp_issuer?: string;
                        issuer?: string;
                        key_id?: string;
                        private_key?: string;
                        scope?: string;
                        /** @description id_jag: the user's identity token from the identity provider */
                        subject_token?: string;
                        /**
                         * @default id_token
                         * @enum {unknown}
                         */
                        subject_token_type?: "id_token" | "saml2" | "refresh_token";
                        token_endpoint_auth_method?: string;
                    } & {
                        [key: string]: unknown;
                    };
                    /**
                     * @default http
                     * @enum {unknown}
                     */
                    type?: "http" | "sse";
                    url?: string;
                } | unknown | unknown;
            };
        };
        responses: {
            /** @description Made */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "profile_id": "0191f2c0-7d5a-7b7e-9d2b-3c1f5a0e4b11",
                     *       "integration": "crm",
                     *       "display_name": "crm"
                     *     }
                     */
                    "application/json": components["schemas"]["mcp_prebuilt.Profile"];
                };
            };
            400: components["responses"]["host.BadRequest"];
            401: components["responses"]["host.NotAuthenticated"];
            403: components["responses"]["mcp_prebuilt.Disabled"];
            408: components["responses"]["host.BodyTooSlow"];
            409: components["responses"]["host.Conflict"];
            413: components["responses"]["host.TooLarge"];
            422: components["responses"]["host.Unprocessable"];
            429: components["responses"]["host.TooManyRequests"];
            500: components["responses"]["host.InternalError"];
            503: components["responses"]["host.Unavailable"];
            504: components["responses"]["host.TimedOut"];
        };
    };
    "mcp_prebuilt.delete": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description Id of the profile, as the list of profiles shows it
                 * @example 0191f2c0-7d5a-7b7e-9d2b-3c1f5a0e4b11
                 */
                id: components["parameters"]["mcp_prebuilt.Id"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Removed */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["host.BadRequest"];
            401: components["responses"]["host.NotAuthenticated"];
            403: components["responses"]["mcp_prebuilt.Disabled"];
            404: components["responses"]["host.NotFound"];
            408: components["responses"]["host.BodyTooSlow"];
            413: components["responses"]["host.TooLarge"];
            422: components["responses"]["host.Unprocessable"];
            429: components["responses"]["host.TooManyRequests"];
            500: components["responses"]["host.InternalError"];
            503: components["responses"]["host.Unavailable"];
            504: components["responses"]["host.TimedOut"];
        };
    };
    "mcp_prebuilt.connect": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description Id of the profile, as the list of profiles shows it
                 * @example 0191f2c0-7d5a-7b7e-9d2b-3c1f5a0e4b11
                 */
                id: components["parameters"]["mcp_prebuilt.Id"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A link */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "connect_url": "https://run.example.org/mcp/oauth/connect?ticket=abc",
                     *       "expires_in": 600
                     *     }
                     */
                    "application/json": {
                        /** Format: uri */
                        connect_url: string;
                        /** @description Seconds */
                        expires_in: number;
                    };
                };
            };
            400: components["responses"]["host.BadRequest"];
            401: components["responses"]["host.NotAuthenticated"];
            403: components["responses"]["mcp_prebuilt.Disabled"];
            404: components["responses"]["host.NotFound"];
            408: components["responses"]["host.BodyTooSlow"];
            409: components["responses"]["host.Conflict"];
            413: components["responses"]["host.TooLarge"];
            422: components["responses"]["host.Unprocessable"];
            429: components["responses"]["host.TooManyRequests"];
            500: components["responses"]["host.InternalError"];
            502: components["responses"]["mcp_prebuilt.Failed"];
            503: components["responses"]["host.Unavailable"];
            504: components["responses"]["mcp_prebuilt.Failed"];
        };
    };
    "host.metrics": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Text format 0.0.4 */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /** @example runyard_http_requests_total 12 */
                    "text/plain": string;
                };
            };
            403: components["responses"]["host.ForeignSite"];
            429: components["responses"]["host.TooManyRequests"];
            500: components["responses"]["host.InternalError"];
            503: components["responses"]["host.Unavailable"];
            504: components["responses"]["host.TimedOut"];
        };
    };
    "notifications.deliveries": {
        parameters: {
            query?: {
                /** @description `next_cursor` of the page before */
                cursor?: components["parameters"]["notifications.Cursor"];
                /**
                 * @description How many of them the answer holds at most
                 * @example 20
                 */
                limit?: components["parameters"]["notifications.Limit"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: components["responses"]["notifications.Deliveries"];
            400: components["responses"]["host.BadRequest"];
            401: components["responses"]["host.NotAuthenticated"];
            403: components["responses"]["notifications.Closed"];
            422: components["responses"]["host.Unprocessable"];
            429: components["responses"]["host.TooManyRequests"];
            500: components["responses"]["host.InternalError"];
            503: components["responses"]["host.Unavailable"];
            504: components["responses"]["host.TimedOut"];
        };
    };
    "notifications.add_device": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: components["requestBodies"]["notifications.Device"];
        responses: {
            200: components["responses"]["notifications.Said"];
            400: components["responses"]["host.BadRequest"];
            401: components["responses"]["host.NotAuthenticated"];
            403: components["responses"]["notifications.Closed"];
            408: components["responses"]["host.BodyTooSlow"];
            413: components["responses"]["host.TooLarge"];
            422: components["responses"]["host.Unprocessable"];
            429: components["responses"]["host.TooManyRequests"];
            500: components["responses"]["host.InternalError"];
            503: components["responses"]["host.Unavailable"];
            504: components["responses"]["host.TimedOut"];
        };
    };
    "notifications.drop_device": {
        parameters: {
            query?: {
                /**
                 * @description In any case. Else whichever it is
                 * @example expo
                 */
                provider?: string;
            };
            header?: never;
            path: {
                /**
                 * @description The token as it was registered, percent-encoded
                 * @example ExponentPushToken[xxxxxxxxxxxxxxxxxxxxxx]
                 */
                device_token: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: components["responses"]["notifications.Said"];
            401: components["responses"]["host.NotAuthenticated"];
            403: components["responses"]["notifications.Closed"];
            408: components["responses"]["host.BodyTooSlow"];
            413: components["responses"]["host.TooLarge"];
            422: components["responses"]["host.Unprocessable"];
            429: components["responses"]["host.TooManyRequests"];
            500: components["responses"]["host.InternalError"];
            503: components["responses"]["host.Unavailable"];
            504: components["responses"]["host.TimedOut"];
        };
    };
    "notifications.inbox": {
        parameters: {
            query?: {
                /** @description `next_cursor` of the page before */
                cursor?: components["parameters"]["notifications.Cursor"];
                /**
                 * @description How many of them the answer holds at most
                 * @example 20
                 */
                limit?: components["parameters"]["notifications.Limit"];
                /** @description Only what was not read */
                unread?: ("true" | "false") | string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: components["responses"]["notifications.Inbox"];
            400: components["responses"]["host.BadRequest"];
            401: components["responses"]["host.NotAuthenticated"];
            403: components["responses"]["notifications.Closed"];
            422: components["responses"]["host.Unprocessable"];
            429: components["responses"]["host.TooManyRequests"];
            500: components["responses"]["host.InternalError"];
            503: components["responses"]["host.Unavailable"];
            504: components["responses"]["host.TimedOut"];
        };
    };
    "notifications.read": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description Id of the notification, as its list shows it
                 * @example 0191f2c0-7d5a-7b7e-9d2b-3c1f5a0e4b11
                 */
                id: components["parameters"]["notifications.Id"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: components["responses"]["notifications.Marked"];
            400: components["responses"]["host.BadRequest"];
            401: components["responses"]["host.NotAuthenticated"];
            403: components["responses"]["notifications.Closed"];
            404: components["responses"]["host.NotFound"];
            408: components["responses"]["host.BodyTooSlow"];
            413: components["responses"]["host.TooLarge"];
            422: components["responses"]["host.Unprocessable"];
            429: components["responses"]["host.TooManyRequests"];
            500: components["responses"]["host.InternalError"];
            503: components["responses"]["host.Unavailable"];
            504: components["responses"]["host.TimedOut"];
        };
    };
    "notifications.read_all": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: components["responses"]["notifications.Marked"];
            401: components["responses"]["host.NotAuthenticated"];
            403: components["responses"]["notifications.Closed"];
            408: components["responses"]["host.BodyTooSlow"];
            413: components["responses"]["host.TooLarge"];
            429: components["responses"]["host.TooManyRequests"];
            500: components["responses"]["host.InternalError"];
            503: components["responses"]["host.Unavailable"];
            504: components["responses"]["host.TimedOut"];
        };
    };
    "notifications.inbox_stream": {
        parameters: {
            query?: {
                /** @description As the header `Last-Event-ID`, for clients that cannot set one */
                last_event_id?: number;
            };
            header?: {
                /** @description Goes on after it; without it from now on */
                "Last-Event-ID"?: number;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: components["responses"]["notifications.Stream"];
            400: components["responses"]["host.BadRequest"];
            401: components["responses"]["host.NotAuthenticated"];
            403: components["responses"]["notifications.Closed"];
            429: components["responses"]["host.TooManyRequests"];
            500: components["responses"]["host.InternalError"];
            503: components["responses"]["host.Unavailable"];
        };
    };
    "notifications.inbox_stream_token": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: components["responses"]["notifications.Token"];
            401: components["responses"]["host.NotAuthenticated"];
            403: components["responses"]["notifications.Closed"];
            408: components["responses"]["host.BodyTooSlow"];
            413: components["responses"]["host.TooLarge"];
            429: components["responses"]["host.TooManyRequests"];
            500: components["responses"]["host.InternalError"];
            503: components["responses"]["host.Unavailable"];
            504: components["responses"]["host.TimedOut"];
        };
    };
    "notifications.unread_count": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: components["responses"]["notifications.UnreadCount"];
            401: components["responses"]["host.NotAuthenticated"];
            403: components["responses"]["notifications.Closed"];
            429: components["responses"]["host.TooManyRequests"];
            500: components["responses"]["host.InternalError"];
            503: components["responses"]["host.Unavailable"];
            504: components["responses"]["host.TimedOut"];
        };
    };
    "notifications.preferences": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: components["responses"]["notifications.Preferences"];
            401: components["responses"]["host.NotAuthenticated"];
            403: components["responses"]["notifications.Closed"];
            429: components["responses"]["host.TooManyRequests"];
            500: components["responses"]["host.InternalError"];
            503: components["responses"]["host.Unavailable"];
            504: components["responses"]["host.TimedOut"];
        };
    };
    "notifications.put_preferences": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: components["requestBodies"]["notifications.Preferences"];
        responses: {
            200: components["responses"]["notifications.ChangedPreferences"];
            400: components["responses"]["host.BadRequest"];
            401: components["responses"]["host.NotAuthenticated"];
            403: components["responses"]["notifications.Closed"];
            408: components["responses"]["host.BodyTooSlow"];
            413: components["responses"]["host.TooLarge"];
            422: components["responses"]["host.Unprocessable"];
            429: components["responses"]["host.TooManyRequests"];
            500: components["responses"]["host.InternalError"];
            503: components["responses"]["host.Unavailable"];
            504: components["responses"]["host.TimedOut"];
        };
    };
    "notifications.settings": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: components["responses"]["notifications.Settings"];
            401: components["responses"]["host.NotAuthenticated"];
            403: components["responses"]["notifications.Closed"];
            429: components["responses"]["host.TooManyRequests"];
            500: components["responses"]["host.InternalError"];
            503: components["responses"]["host.Unavailable"];
            504: components["responses"]["host.TimedOut"];
        };
    };
    "notifications.put_settings": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: components["requestBodies"]["notifications.Settings"];
        responses: {
            200: components["responses"]["notifications.ChangedSettings"];
            400: components["responses"]["host.BadRequest"];
            401: components["responses"]["host.NotAuthenticated"];
            403: components["responses"]["notifications.Closed"];
            408: components["responses"]["host.BodyTooSlow"];
            413: components["responses"]["host.TooLarge"];
            422: components["responses"]["host.Unprocessable"];
            429: components["responses"]["host.TooManyRequests"];
            500: components["responses"]["host.InternalError"];
            503: components["responses"]["host.Unavailable"];
            504: components["responses"]["host.TimedOut"];
        };
    };
    "notifications.web_push_key": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: components["responses"]["notifications.WebPushKey"];
            401: components["responses"]["host.NotAuthenticated"];
            403: components["responses"]["notifications.Closed"];
            404: components["responses"]["host.NotFound"];
            429: components["responses"]["host.TooManyRequests"];
            500: components["responses"]["host.InternalError"];
            503: components["responses"]["host.Unavailable"];
            504: components["responses"]["host.TimedOut"];
        };
    };
    "notifications.webhook": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The name of the driver, or `orchestrator`
                 * @example orchestrator
                 */
                orchestrator: string;
            };
            cookie?: never;
        };
        requestBody: components["requestBodies"]["notifications.Webhook"];
        responses: {
            200: components["responses"]["notifications.Ok"];
            400: components["responses"]["host.BadRequest"];
            401: components["responses"]["host.NotAuthenticated"];
            403: components["responses"]["host.ForeignSite"];
            404: components["responses"]["host.NotFound"];
            408: components["responses"]["host.BodyTooSlow"];
            413: components["responses"]["host.TooLarge"];
            422: components["responses"]["host.Unprocessable"];
            429: components["responses"]["host.TooManyRequests"];
            500: components["responses"]["host.InternalError"];
            503: components["responses"]["host.Unavailable"];
            504: components["responses"]["host.TimedOut"];
        };
    };
    "host.openapi": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OpenAPI 3.1 */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "openapi": "3.1.1",
                     *       "info": {
                     *         "title": "Runyard",
                     *         "version": "0.1.0"
                     *       },
                     *       "paths": {}
                     *     }
                     */
                    "application/json": {
                        [key: string]: unknown;
                    };
                };
            };
            403: components["responses"]["host.ForeignSite"];
            429: components["responses"]["host.TooManyRequests"];
            500: components["responses"]["host.InternalError"];
            503: components["responses"]["host.Unavailable"];
            504: components["responses"]["host.TimedOut"];
        };
    };
    "notifications.presence": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: components["requestBodies"]["notifications.Presence"];
        responses: {
            200: components["responses"]["notifications.Done"];
            400: components["responses"]["host.BadRequest"];
            401: components["responses"]["host.NotAuthenticated"];
            403: components["responses"]["host.ForeignSite"];
            408: components["responses"]["host.BodyTooSlow"];
            413: components["responses"]["host.TooLarge"];
            422: components["responses"]["host.Unprocessable"];
            429: components["responses"]["host.TooManyRequests"];
            500: components["responses"]["host.InternalError"];
            503: components["responses"]["host.Unavailable"];
            504: components["responses"]["host.TimedOut"];
        };
    };
    "runs.files": {
        parameters: {
            query?: {
                /**
                 * @description Of the file or directory, relative to /workspace. If there is no such path, names that look the same are accepted: another Unicode normalization, special spaces. Several of them are a 400 that names them.
                 * @example uploads
                 */
                path?: string;
            };
            header?: never;
            path: {
                /**
                 * @description Id of the project: `project_id` of the start that began it
                 * @example 0191f2c0-7d5a-7b7e-9d2b-3c1f5a0e4b11
                 */
                id: components["parameters"]["runs.ProjectId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The entries */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "path": "uploads",
                     *       "files": [
                     *         {
                     *           "name": "report.pdf",
                     *           "kind": "file",
                     *           "size": 48211,
                     *           "modified_unix_us": 1795258800000000
                     *         }
                     *       ]
                     *     }
                     */
                    "application/json": {
                        files: components["schemas"]["runs.File"][];
                        path: string;
                    };
                };
            };
            400: components["responses"]["host.BadRequest"];
            401: components["responses"]["host.NotAuthenticated"];
            403: components["responses"]["host.ForeignSite"];
            404: components["responses"]["runs.UnknownFile"];
            422: components["responses"]["host.Unprocessable"];
            429: components["responses"]["host.TooManyRequests"];
            500: components["responses"]["host.InternalError"];
            503: components["responses"]["host.Unavailable"];
            504: components["responses"]["host.TimedOut"];
        };
    };
    "runs.file_content": {
        parameters: {
            query: {
                /** @description At most so many bytes; as many as one answer holds when it is left out */
                limit?: number;
                /** @description The first byte of the file that the answer holds */
                offset?: number;
                /**
                 * @description Of the file or directory, relative to /workspace. If there is no such path, names that look the same are accepted: another Unicode normalization, special spaces. Several of them are a 400 that names them.
                 * @example uploads/report.pdf
                 */
                path: string;
            };
            header?: never;
            path: {
                /**
                 * @description Id of the project: `project_id` of the start that began it
                 * @example 0191f2c0-7d5a-7b7e-9d2b-3c1f5a0e4b11
                 */
                id: components["parameters"]["runs.ProjectId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The bytes */
            200: {
                headers: {
                    /** @description Of the whole file */
                    "X-File-Size"?: string;
                    [name: string]: unknown;
                };
                content: {
                    /** @example Total: 12 */
                    "application/octet-stream": string;
                };
            };
            400: components["responses"]["host.BadRequest"];
            401: components["responses"]["host.NotAuthenticated"];
            403: components["responses"]["host.ForeignSite"];
            404: components["responses"]["runs.UnknownFile"];
            /** @description The file is larger than one response may be; request parts of it */
            413: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "detail": "The file is larger than 16 MiB: request parts of it with offset and limit"
                     *     }
                     */
                    "application/json": components["schemas"]["host.Error"];
                };
            };
            422: components["responses"]["host.Unprocessable"];
            429: components["responses"]["host.TooManyRequests"];
            500: components["responses"]["host.InternalError"];
            503: components["responses"]["host.Unavailable"];
            504: components["responses"]["host.TimedOut"];
        };
    };
    "host.readyz": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description It serves */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "status": "ready",
                     *       "reasons": []
                     *     }
                     */
                    "application/json": components["schemas"]["host.Readiness"];
                };
            };
            403: components["responses"]["host.ForeignSite"];
            429: components["responses"]["host.TooManyRequests"];
            500: components["responses"]["host.InternalError"];
            /** @description It does not serve now */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "status": "not_ready",
                     *       "reasons": [
                     *         {
                     *           "room": "db",
                     *           "message": "the database does not answer"
                     *         }
                     *       ]
                     *     }
                     */
                    "application/json": components["schemas"]["host.Readiness"];
                };
            };
            504: components["responses"]["host.TimedOut"];
        };
    };
    "console.reference": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The page */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /** @example <!doctype html> */
                    "text/html": string;
                };
            };
            /** @description The page is the one that the caller has */
            304: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            403: components["responses"]["host.ForeignSite"];
            429: components["responses"]["host.TooManyRequests"];
            500: components["responses"]["host.InternalError"];
            503: components["responses"]["host.Unavailable"];
            504: components["responses"]["host.TimedOut"];
        };
    };
    "runs.of_thread_alias": {
        parameters: {
            query?: {
                /** @description `next_cursor` of the page before */
                cursor?: components["parameters"]["runs.Cursor"];
                /**
                 * @description How many of them the answer holds at most
                 * @example 20
                 */
                limit?: components["parameters"]["runs.Limit"];
            };
            header?: never;
            path: {
                /**
                 * @description Id of the thread: `thread_id` of the start that began it
                 * @example 0191f2c0-7d5a-7b7e-9d2b-3c1f5a0e4b11
                 */
                id: components["parameters"]["runs.ThreadId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: components["responses"]["runs.Runs"];
            400: components["responses"]["host.BadRequest"];
            401: components["responses"]["host.NotAuthenticated"];
            403: components["responses"]["host.ForeignSite"];
            404: components["responses"]["runs.UnknownThread"];
            422: components["responses"]["host.Unprocessable"];
            429: components["responses"]["host.TooManyRequests"];
            500: components["responses"]["host.InternalError"];
            503: components["responses"]["host.Unavailable"];
            504: components["responses"]["host.TimedOut"];
        };
    };
    "runs.list_threads": {
        parameters: {
            query?: {
                /** @description `next_cursor` of the page before */
                cursor?: components["parameters"]["runs.Cursor"];
                /**
                 * @description How many of them the answer holds at most
                 * @example 20
                 */
                limit?: components["parameters"]["runs.Limit"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "threads": [
                     *         {
                     *           "thread_id": "0191f2c0-7d5a-7b7e-9d2b-3c1f5a0e4b11",
                     *           "project_id": "0191f2c0-7d5a-7b7e-9d2b-3c1f5a0e4b11",
                     *           "title": "What changed in the log",
                     *           "created_at": "2026-11-21T11:00:00.000Z",
                     *           "agent_id": "0191f2c0-7d5a-7b7e-9d2b-3c1f5a0e4b11",
                     *           "model_name": "mock/basic",
                     *           "latest_run": {
                     *             "agent_run_id": "0191f2c0-7d5a-7b7e-9d2b-3c1f5a0e4b11",
                     *             "status": "completed",
                     *             "agent_id": "0191f2c0-7d5a-7b7e-9d2b-3c1f5a0e4b11",
                     *             "model_name": "mock/basic",
                     *             "mode": "agent",
                     *             "memory_enabled": true
                     *           }
                     *         }
                     *       ],
                     *       "next_cursor": null
                     *     }
                     */
                    "application/json": {
                        next_cursor: string | null;
                        threads: components["schemas"]["runs.Thread"][];
                    };
                };
            };
            400: components["responses"]["host.BadRequest"];
            401: components["responses"]["host.NotAuthenticated"];
            403: components["responses"]["host.ForeignSite"];
            422: components["responses"]["host.Unprocessable"];
            429: components["responses"]["host.TooManyRequests"];
            500: components["responses"]["host.InternalError"];
            503: components["responses"]["host.Unavailable"];
            504: components["responses"]["host.TimedOut"];
        };
    };
    "runs.get_thread": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description Id of the thread: `thread_id` of the start that began it
                 * @example 0191f2c0-7d5a-7b7e-9d2b-3c1f5a0e4b11
                 */
                id: components["parameters"]["runs.ThreadId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The thread */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "thread_id": "0191f2c0-7d5a-7b7e-9d2b-3c1f5a0e4b11",
                     *       "project_id": "0191f2c0-7d5a-7b7e-9d2b-3c1f5a0e4b11",
                     *       "title": "What changed in the log",
                     *       "created_at": "2026-11-21T11:00:00.000Z",
                     *       "agent_id": null,
                     *       "model_name": null,
                     *       "latest_run": null
                     *     }
                     */
                    "application/json": components["schemas"]["runs.Thread"];
                };
            };
            400: components["responses"]["host.BadRequest"];
            401: components["responses"]["host.NotAuthenticated"];
            403: components["responses"]["host.ForeignSite"];
            404: components["responses"]["runs.UnknownThread"];
            422: components["responses"]["host.Unprocessable"];
            429: components["responses"]["host.TooManyRequests"];
            500: components["responses"]["host.InternalError"];
            503: components["responses"]["host.Unavailable"];
            504: components["responses"]["host.TimedOut"];
        };
    };
    "runs.delete_thread": {
        parameters: {
            query?: {
                /** @description Stop runs of the thread first, instead of a 409 */
                force?: boolean;
            };
            header?: never;
            path: {
                /**
                 * @description Id of the thread: `thread_id` of the start that began it
                 * @example 0191f2c0-7d5a-7b7e-9d2b-3c1f5a0e4b11
                 */
                id: components["parameters"]["runs.ThreadId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Removed */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["host.BadRequest"];
            401: components["responses"]["host.NotAuthenticated"];
            403: components["responses"]["host.ForeignSite"];
            404: components["responses"]["runs.UnknownThread"];
            408: components["responses"]["host.BodyTooSlow"];
            /** @description It has a run in progress */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "detail": "The thread has a run in progress"
                     *     }
                     */
                    "application/json": components["schemas"]["host.Error"];
                };
            };
            413: components["responses"]["host.TooLarge"];
            422: components["responses"]["host.Unprocessable"];
            429: components["responses"]["host.TooManyRequests"];
            500: components["responses"]["host.InternalError"];
            503: components["responses"]["host.Unavailable"];
            504: components["responses"]["host.TimedOut"];
        };
    };
    "runs.of_thread": {
        parameters: {
            query?: {
                /** @description `next_cursor` of the page before */
                cursor?: components["parameters"]["runs.Cursor"];
                /**
                 * @description How many of them the answer holds at most
                 * @example 20
                 */
                limit?: components["parameters"]["runs.Limit"];
            };
            header?: never;
            path: {
                /**
                 * @description Id of the thread: `thread_id` of the start that began it
                 * @example 0191f2c0-7d5a-7b7e-9d2b-3c1f5a0e4b11
                 */
                id: components["parameters"]["runs.ThreadId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: components["responses"]["runs.Runs"];
            400: components["responses"]["host.BadRequest"];
            401: components["responses"]["host.NotAuthenticated"];
            403: components["responses"]["host.ForeignSite"];
            404: components["responses"]["runs.UnknownThread"];
            422: components["responses"]["host.Unprocessable"];
            429: components["responses"]["host.TooManyRequests"];
            500: components["responses"]["host.InternalError"];
            503: components["responses"]["host.Unavailable"];
            504: components["responses"]["host.TimedOut"];
        };
    };
    "runs.messages": {
        parameters: {
            query?: {
                /** @description `next_cursor` of the page before */
                cursor?: components["parameters"]["runs.Cursor"];
                /**
                 * @description How many of them the answer holds at most
                 * @example 20
                 */
                limit?: number;
                /**
                 * @description Oldest or newest first; in any case
                 * @example asc
                 */
                order?: string;
            };
            header?: never;
            path: {
                /**
                 * @description Id of the thread: `thread_id` of the start that began it
                 * @example 0191f2c0-7d5a-7b7e-9d2b-3c1f5a0e4b11
                 */
                id: components["parameters"]["runs.ThreadId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "messages": [
                     *         {
                     *           "message_id": "0191f2c0-7d5a-7b7e-9d2b-3c1f5a0e4b11",
                     *           "thread_id": "0191f2c0-7d5a-7b7e-9d2b-3c1f5a0e4b11",
                     *           "agent_run_id": "0191f2c0-7d5a-7b7e-9d2b-3c1f5a0e4b11",
                     *           "created_at": "2026-11-21T11:00:00.000Z",
                     *           "role": "user",
                     *           "content": "What changed in the log since yesterday"
                     *         }
                     *       ],
                     *       "next_cursor": null
                     *     }
                     */
                    "application/json": {
                        messages: components["schemas"]["runs.Message"][];
                        next_cursor: string | null;
                    };
                };
            };
            400: components["responses"]["host.BadRequest"];
            401: components["responses"]["host.NotAuthenticated"];
            403: components["responses"]["host.ForeignSite"];
            404: components["responses"]["runs.UnknownThread"];
            422: components["responses"]["host.Unprocessable"];
            429: components["responses"]["host.TooManyRequests"];
            500: components["responses"]["host.InternalError"];
            503: components["responses"]["host.Unavailable"];
            504: components["responses"]["host.TimedOut"];
        };
    };
}
