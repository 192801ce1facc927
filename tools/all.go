package tools

// All lists every tool, in the order of help and documentation.
func All() []*Tool {
	return []*Tool{
		initTool, syncTool, newTool, getTool, listTool, updateTool, linkTool, unlinkTool, tagTool, untagTool,
		activateTool, supersedeTool, deprecateTool, deleteTool, renewTool, reopenTool,
		undoLastTool, restoreTool, redoTool, receiptsTool, activityTool, renumberTool,
	}
}
