package main

import (
	"log/slog"

	"forgeplan/mcp"
	"forgeplan/tools"

	"github.com/spf13/cobra"
)

func (p *program) serveCommand() *cobra.Command {
	var toolset string
	cmd := &cobra.Command{
		Use: "serve", Short: "Serves the tools to an agent over MCP on stdin and stdout", GroupID: groupMaintain, Args: noPlaces,
		Long: "Serves the tools to an agent over MCP on stdin and stdout. The workspace is looked\nup at each call; nothing is touched at the start. Ends when stdin does.",
		RunE: func(cmd *cobra.Command, _ []string) error {
			if toolset == "" {
				toolset = p.getenv("FORGEPLAN_TOOLSET")
			}
			switch toolset {
			case "":
				toolset = "core"
			case "core", "audit", "all":
			default:
				return tools.Fail(tools.ClassInvalidInput, "--toolset must be core, audit or all", tools.Say("Leave it out for core."))
			}
			session := p.getenv("FORGEPLAN_SESSION")
			if session == "" {
				session = p.env.Attempt(p.env.Clock()).String()
			}
			level := slog.LevelWarn
			if p.getenv("FORGEPLAN_LOG") == "debug" {
				level = slog.LevelDebug
			}
			p.answered.Store(true) // stdout is the protocol's: nothing is said there at a hard end
			err := mcp.Serve(cmd.Context(), p.reg, mcp.Options{
				In: p.stdin, Out: p.stdout, Version: version, Session: session, Actor: p.getenv("FORGEPLAN_ACTOR"), Toolset: toolset,
				Log: slog.New(slog.NewTextHandler(p.stderr, &slog.HandlerOptions{Level: level})),
			})
			if err != nil {
				return tools.Classify(err)
			}
			return nil
		},
	}
	cmd.Flags().StringVar(&toolset, "toolset", "", "tools to offer: core (default), audit or all")
	return cmd
}
