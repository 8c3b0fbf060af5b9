<?xml version="1.0" encoding="utf-8"?>
<!DOCTYPE TS>
<TS version="2.1" language="de" sourcelanguage="en">
<context>
    <name>AnswerBody</name>
    <message>
        <source>Answer text</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>AnswerCard</name>
    <message>
        <source>Reading the prompt</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Copy answer</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Copied</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Regenerate this answer</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Reading the prompt · {done} of {total} tokens</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source> Continue</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Continue this answer</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Let the answer go on where it was cut</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>AnswerController</name>
    <message numerus="yes">
        <source>The context is full: the %n oldest messages were left out.</source>
        <translation type="unfinished">
            <numerusform></numerusform>
            <numerusform></numerusform>
        </translation>
    </message>
    <message>
        <source>One answer at a time: wait for the other one, or stop it.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Ended at the longest answer that the settings allow.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Ended because the context is full: start a new chat, or choose a larger context.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Only a last answer that was cut short can go on.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Interrupted: Paceline was closed in the middle of this answer.</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>AnswerFooter</name>
    <message>
        <source>The model that gave this answer.</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>AttachmentDialog</name>
    <message>
        <source>Attach files</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>All files</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Text, code, tables and PDF</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>AttachmentReader</name>
    <message>
        <source>Text of {name}</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Copy all</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Close</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>shown: the first {shown} of {all} characters; the model is given all</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>AttachmentTray</name>
    <message>
        <source>Attach it instead</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Keep it here</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>That is a long text: {count} characters.</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>Attachments</name>
    <message>
        <source>counting tokens</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>tokens are counted once a model is loaded</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>reading</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Pasted text</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Text</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Code</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Markdown</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>CSV</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>PDF</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>{count} tokens</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Remove {name}</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Enter opens it to read.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Enter opens it to read, Delete removes it.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Attachments</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>Banner</name>
    <message>
        <source>Dismiss</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Notice</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>ChatFiles</name>
    <message>
        <source>Markdown (*.md)</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Zip of Markdown files (*.zip)</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>JSON (*.json)</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Exports (*.json *.zip);;All files (*)</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Export chats</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Import chats from Paceline, ChatGPT or LM Studio</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>ChatSettings</name>
    <message>
        <source>This chat</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>This model</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>All chats</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>For this chat alone. What it has not of its own comes from the model, else from the settings.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>For every chat with {model} that has no value of its own.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>For every chat where neither the chat nor its model has a value of its own.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Chat settings</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>{mode} cannot run now. {reason}</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Chat settings (Ctrl+.)</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Use for this model</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Keep for this model</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Close</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>What is changed</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Values</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Every chat with this model then begins with them</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>this model</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The makers of {model} recommend: {values}.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Reset all</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Reset all values of: {layer}</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>this chat</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>from the model</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>from the settings</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>usual value</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>set for all</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>this chat has its own</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>the model has its own</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Reset</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Reset {label}</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>{label}: {origin}</source>
        <translation type="unfinished"></translation>
    </message>
    <message numerus="yes">
        <source>%n values of this chat&apos;s own</source>
        <translation type="unfinished">
            <numerusform></numerusform>
            <numerusform></numerusform>
        </translation>
    </message>
</context>
<context>
    <name>CodeBlock</name>
    <message>
        <source>Copy code</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Copy</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Code, {language}</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Code</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Copied</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>CodeView</name>
    <message>
        <source>Code</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>Commands</name>
    <message>
        <source>Conversation</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Chats</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Window</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Edit the last question</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Regenerate the last answer</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Continue an answer that was cut</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Version before of a message</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Next version of a message</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Send the message</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Break the line</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Attach files to the message</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Stop the answer, or go back</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Next mode of speculation</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Copy the last answer</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>New chat</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Search chats</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Rename the chosen chat</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Delete the chosen chat</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Move the chosen chat in its folder</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Models, and back to the chat</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Show or hide the sidebar</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Show or hide the statistics</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Settings</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Keyboard shortcuts</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Settings of this chat</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Take one of the modes of speculation</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Insert a prompt, in an empty message</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>Composer</name>
    <message>
        <source>Tokens of this conversation that the model holds, and how many it can hold.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>When it is full, the oldest turns are left out, and the answer says so.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>When it is full, no answer is made until a new chat is started or the context is made larger.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>No model is loaded; open one or use the built-in pair.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The model is loading; the message can be sent in a moment.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>How many tokens are proposed per pass. Auto lets Paceline choose from what it measures.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Attach files</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source> Send</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source> Stop</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Draft length</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Depth auto</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Depth {depth}</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Attach text, code, Markdown, CSV or PDF files (Ctrl+Shift+A)</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Send the message (Enter)</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Send</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Stop the answer (Esc)</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Stop</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>nearly full</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Context {context}{words}</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Context used: {context} tokens{words}</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>A file is still being read; the message can be sent in a moment.</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>ContextSum</name>
    <message>
        <source>This message alone is more than the context holds, so no answer can be made. Remove an attachment, shorten the text, or choose a larger context in the settings.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>This is more than the context holds, so no answer can be made. Remove an attachment, start a new chat, or choose a larger context in the settings.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>This is more than the context holds: the oldest turns will be left out, and the answer says so.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>This is more than the context holds: the oldest turns will be summarised first, and the answer says so.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>{total} of {size} tokens</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>{total} tokens</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>at least {sum}</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Conversation {conversation}, attachments {attached}, this message {typed} tokens.</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>Controller</name>
    <message>
        <source>This is done when the answer is finished; stop it to have it now.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Everything is saved again.</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>ConversationList</name>
    <message>
        <source>Conversations</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>ConversationMenu</name>
    <message>
        <source>Open</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Rename	F2</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Unpin</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Pin</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Duplicate</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Take back from the archive</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Archive</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Delete…	Del</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Close</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Remove folder, keep chats	Del</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>New folder</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Import chats…</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Export all chats</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Move to folder</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>No folder</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>As Markdown…</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>As JSON, with branches and figures…</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>ConversationModel</name>
    <message numerus="yes">
        <source>Folder {text}, %n chats, {state}</source>
        <translation type="unfinished">
            <numerusform></numerusform>
            <numerusform></numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{text}, %n chats, {state}</source>
        <translation type="unfinished">
            <numerusform></numerusform>
            <numerusform></numerusform>
        </translation>
    </message>
    <message>
        <source>Pinned</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Archived</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>closed</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>open</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Today</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Yesterday</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Earlier</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>Delegate</name>
    <message>
        <source>Name of the folder</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Title of the conversation</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>DepthBars</name>
    <message>
        <source>depth {depth}: {share}</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Nothing proposed yet</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>Dialogs</name>
    <message numerus="yes">
        <source>It and all that follows it, %n messages in all branches, will be gone for good.</source>
        <translation type="unfinished">
            <numerusform></numerusform>
            <numerusform></numerusform>
        </translation>
    </message>
    <message>
        <source>“{title}” and its messages will be gone for good.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Delete this chat?</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Delete</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Delete this message?</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Open this link?</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The answer names this address. Your browser will open it.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Open</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Address</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>DownloadIndicator</name>
    <message>
        <source>Downloads</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>A download has stopped and needs a look</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Downloads: {words}</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>DownloadLine</name>
    <message>
        <source>Download of {name}</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Chat</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Chat with {name}</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>DownloadsPage</name>
    <message numerus="yes">
        <source>%n on the way</source>
        <translation type="unfinished">
            <numerusform></numerusform>
            <numerusform></numerusform>
        </translation>
    </message>
    <message>
        <source>Pause</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Cancel and delete the part</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Resume</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Try again</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Take off this list; the model stays</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>{done} of {total}</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Downloads</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Search models</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>See recommended pairs</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Nothing is downloading</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Downloads go on where they stopped, also after a restart.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Nothing is on its way just now.</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>DraftsPage</name>
    <message>
        <source>Matching</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Not checked</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Rejected, and why</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Drafts for</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Drafts</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Verdict</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>No target</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Looking…</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Choose a draft</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Whether it matches, and whether the pair fits this machine, is shown here.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Search models</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Choose from the library</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>No target chosen</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Choose a model that answers; its drafts are found here.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Nothing to pair yet</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>A draft is a small model that proposes words for a large one.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Looking for drafts</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>On this computer, among the recommendations, and on the hub.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>No candidate was found on this computer, among the recommendations or on the hub.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>No drafts found</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>{words} N-grams need no draft: they work with every model.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Try again</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>DropOverlay</name>
    <message>
        <source>Use the dropped file as</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Use as target</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Use as draft</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Cancel</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The target answers. A draft is a smaller model of the same vocabulary that proposes tokens for it.</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>DropZone</name>
    <message numerus="yes">
        <source>Attach %n files to the message</source>
        <translation type="unfinished">
            <numerusform></numerusform>
            <numerusform></numerusform>
        </translation>
    </message>
    <message>
        <source>Open as a model</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Import the chats in it</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Import it if it holds chats, else attach it to the message</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Attach it to the message</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>and {count} more</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>EmptyState</name>
    <message>
        <source>Repeat a text</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Repeat this text exactly: The quiet river runs past the old stone bridge.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Make a table</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Make a Markdown table of these words: river, stone, lamp, boat, apple, bell.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Ask about drafting</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>What is speculative decoding?</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Hear a story</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Write a short story about a fox.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source> Show it at real weight</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Drafting cannot pay on a model this small. A copy padded to the cost of about 400 million parameters shows the true gain on your machine: about 200 MB, made here in seconds, removable.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Making the padded copy. This takes a few seconds.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The padded copy is here: the same words at the cost of about 400 million parameters.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>You are using the padded copy: the same tiny model at the cost of about 400 million parameters.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Start</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Use the built-in pair</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source> Open a GGUF file…</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source> Find models</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Choose a model file on this computer</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Pairs for this machine, search and library (Ctrl+M)</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Making the padded copy</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Loading the model</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>This takes a moment. You can write your message meanwhile.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>No model yet</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Open a GGUF file from your disk, or begin with the built-in pair. {note}</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Try the built-in pair</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>{note} It can follow messages like these.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>New chat</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Write a message below, or try one of these.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source> Cancel</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>Figures</name>
    <message>
        <source>{number} parameters</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>{number} k parameters</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>{number} M parameters</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>{number} B parameters</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>{number} T parameters</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>{minutes} min {seconds} s</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>{number} tok/s</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>{share} of {number}</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Tokens per second, from the end of reading the prompt to the last token.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>{number} tokens per pass</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Tokens for each forward pass of the target; plain decoding gives 1.0.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>How tokens were proposed.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>nothing drafted</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>No token was proposed: every pass gave the target&apos;s one token.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>{share} of {number} drafted accepted</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>How many of the drafted tokens the target kept.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>{number}x plain</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Against plain decoding on this model, at this fill of the context: passes of one token were measured here, and are corrected while it runs. One took {cost}, so plain decoding would give {speed}.</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>FileTable</name>
    <message numerus="yes">
        <source>%n parts</source>
        <translation type="unfinished">
            <numerusform></numerusform>
            <numerusform></numerusform>
        </translation>
    </message>
    <message>
        <source>Goes with a model</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Find a draft…</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Find a draft for {what}</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Lists the drafts that match this model, and says why others do not, before anything is downloaded.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Chat</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Chat with {what}</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Downloading</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>{what} is downloading</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Download</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Download {what}</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>draft model</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>FitParts</name>
    <message>
        <source>Weights</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Context</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Compute buffers</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Tokenizer and the rest</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>FitView</name>
    <message>
        <source>an unknown amount</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>{size} of {free} free</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>What it takes with a context of {count} tokens</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Target</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Draft</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Together</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>All</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>Header</name>
    <message>
        <source>The built-in pair is tiny: it shows how speculative decoding works, not what a large model knows.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The same tiny model made as slow as a large one, so that speculation shows its real gain here.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>processor only</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>{number} layers on the GPU</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>{name}
{architecture}, {parameters}, {size}
Context {used} of {trained} tokens, {threads} threads, {where}
Chat template: {template_name}
{path}</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Show the sidebar (Ctrl+B)</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Show or hide the statistics (Ctrl+Shift+B)</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>New chat</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Loading the model</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Find and download models…</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Recommended pairs, search, drafts, library, downloads (Ctrl+M)</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Open a GGUF as target…</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Open a GGUF as draft…</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Remove the draft</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Use the built-in pair</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Show it at real weight</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Delete the real-weight copy (200 MB)</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Frees the disk space; it can be made again at any time.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Show it at real weight (makes 200 MB)</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Stop making the real-weight copy</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Showing it at real weight</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Models: {names}</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Loading a model</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Loading a model, {percent}</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>No model</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>no draft</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>No model is loaded. Open a GGUF file, or use the built-in pair.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Target: {words}</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Draft: {words}</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>No draft. {why}</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>HelpButton</name>
    <message>
        <source>Help</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Keyboard shortcuts</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Open the log folder</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Copy diagnostics</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>About Paceline</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>HelpDesk</name>
    <message>
        <source>Paceline {version}: chat with local language models, sped up by speculative decoding that leaves every answer the model&apos;s own. MIT licence; third-party licences are in assets/THIRD_PARTY.md.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The diagnostics are on the clipboard. They hold nothing that was said in a chat.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The logs are in {folder}.</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>HubController</name>
    <message>
        <source>Open the folder with your file manager.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Downloaded and checked: {names}.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>{size} of disk space are free again.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Taken off the list.</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>HubFitViews</name>
    <message>
        <source>Memory</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>GPU memory</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Disk</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>HubPairs</name>
    <message>
        <source>The vocabularies differ.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The tokens and the settings of both vocabularies agree.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Drafting a token costs about {share} of the target&apos;s own pass: expect little gain.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Drafting a token costs about {share} of the target&apos;s own pass.</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>HubPlace</name>
    <message>
        <source> Back to the chat</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source> First steps</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Back to the chat</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Back to the chat (Esc)</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>First steps</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>What this machine has, and which pairs suit it</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Models</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>HubRecommendations</name>
    <message>
        <source>Not checked against the hub yet.</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>HubViews</name>
    <message>
        <source>Its publisher asks you to accept terms before the files can be fetched. Accept them on the model&apos;s page while signed in, then give Paceline an access token of your account.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Its publisher decides by hand who may have the files. Ask for access on the model&apos;s page; once you have it, give Paceline an access token of your account.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Judged by its size; “Find a draft…” reads its header and shows what exactly it takes.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>{weights} of weights; {free} of memory are free. {words}</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>context of {number} tokens</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>LegendRow</name>
    <message>
        <source>{words} Click to mark these tokens in the answers.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Mark {name} tokens: {text}</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>LengthBars</name>
    <message>
        <source>{kept} kept: {number} passes</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Nothing proposed yet</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>LibraryController</name>
    <message>
        <source>New folder</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>LibraryLine</name>
    <message>
        <source>Chat</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Chat with {name}</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>More for {name}</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Missing</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The file is not where it was. Plug in its disk, or remove it from the list.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>In use as {in_use}</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Used in place</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The file stays where it is; removing it here does not delete it.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Use as the draft</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Find a draft for it…</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Reveal in its folder</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Remove…</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>“{name}” is taken off the list. No file is deleted.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Remove this model from the list?</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Remove</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>“{name}” is deleted from this computer; {size} become free.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Delete this model?</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Delete</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>LibraryPage</name>
    <message numerus="yes">
        <source>%n models · {total} in the models folder</source>
        <translation type="unfinished">
            <numerusform></numerusform>
            <numerusform></numerusform>
        </translation>
    </message>
    <message>
        <source>paired with {paired_with}</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Add a GGUF file…</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The file stays where it is; nothing is copied.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Look again</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Looks for models in other apps&apos; folders.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Found on this computer, in other apps&apos; folders</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>See recommended pairs</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>No models yet</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Download a pair, or add a GGUF file that you have; it is not copied.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Library</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Add</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Add {name}</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Model</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>MainWindow</name>
    <message>
        <source>{title} – Paceline</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Answer finished. {figures}</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Copied</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>MessageCard</name>
    <message>
        <source>Stopped.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Interrupted: Paceline ended before the answer was complete.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The answer could not be completed.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Message from {author}</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>More for this message</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>MessageEdit</name>
    <message>
        <source>Message</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>MessageEditor</name>
    <message>
        <source>Enter sends it as another version. What is there stays.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Cancel</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Send</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>{deed}: the edited message</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>MessageMenu</name>
    <message>
        <source>Copy as Markdown</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Copy as text</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Copy with reasoning</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Regenerate in mode</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Regenerate with model</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>{name} (in use)</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Continue</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Copy</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Edit</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Delete from here on…</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>ModeSwitch</name>
    <message>
        <source>Plain decoding: one token per pass of the target. The baseline of every comparison.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Drafts what followed the same words earlier in this conversation; needs no second model.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Drafts what most often followed the longest match in this conversation; needs no second model.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>A small model drafts tokens, and the target checks them all in one pass.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Drafts from text where it matches well, and with the draft model elsewhere or before a match.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Takes whatever is expected to be fastest at each pass, plain decoding included.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>How tokens are proposed</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Mode: {name}</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>{words} Ctrl+D takes the next mode.</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>ModelController</name>
    <message>
        <source>It could not be loaded.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Choose another draft, or go on without one.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The built-in pair is used until another model is chosen.</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>ModelFileRow</name>
    <message>
        <source>No file</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>browse for a file</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Browse…</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>No folder</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>browse for a folder</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>Modes</name>
    <message>
        <source>Needs</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Costs</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Not now: {reason}</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>How tokens are proposed</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Needs: {words}</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Costs: {words}</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Automatic</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Takes whatever is expected to be fastest at each pass, plain decoding included.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Nothing; with a draft model it has one more choice.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>A second or two of measuring after a model is loaded, and now and then a pass to look again.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Off (plain)</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>One token per pass of the target. The baseline of every comparison.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Nothing.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>No extra work, and no gain.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>N-gram (prompt lookup)</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Drafts what followed the same words earlier in this conversation.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Text that repeats itself: code, quotations, lists, corrections. No second model.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Next to nothing; a wrong guess makes one pass a little longer.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Suffix decoding</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Drafts what most often followed the longest match, here and in past chats if they may be used.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Text that repeats itself, or resembles what was said before. No second model.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>A little memory for the index; a wrong guess makes one pass a little longer.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Draft model</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>A small model drafts tokens, and the target checks them all in one pass.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>A draft model with the target&apos;s vocabulary, best a tenth of its size or less.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Its memory, and the time of its own passes: with a draft too large, answers get slower.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Hybrid (text and draft model)</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Drafts from text where it matches well, and with the draft model elsewhere.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>A draft model with the target&apos;s vocabulary.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>As the draft model; less of its time where text matches.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Off</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>N-gram</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Suffix</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Draft</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Hybrid</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Auto</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>plain</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>n-gram</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>suffix</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>draft</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>hybrid</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>auto</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>NotificationController</name>
    <message numerus="yes">
        <source>%Ln tokens</source>
        <translation type="unfinished">
            <numerusform></numerusform>
            <numerusform></numerusform>
        </translation>
    </message>
    <message>
        <source>The answer could not be finished</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>{tokens} at {speed}</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The answer is there</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>NumberRow</name>
    <message>
        <source>a number</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>a whole number</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Give {what}, {range}.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Give a value {range}.</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>PairCard</name>
    <message>
        <source>on this computer</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>downloading</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Target</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Draft</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>No draft: plain decoding and n-grams</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Search for another</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Download {what}</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Download and chat</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Chat with this pair</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Chat with the target alone</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Chat with it</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>See the downloads</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>the draft</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>the target</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>it</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>PassTip</name>
    <message numerus="yes">
        <source>Kept %n proposed tokens: {texts}</source>
        <translation type="unfinished">
            <numerusform></numerusform>
            <numerusform></numerusform>
        </translation>
    </message>
    <message>
        <source>drawn in its place</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>and one more, since all were kept</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>drawn by the target alone, nothing was proposed</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Refused: {text}</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>drawn in place of a refused one</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>One pass of the target.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>(part of a character)</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>Place</name>
    <message>
        <source>Recommended</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Search</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Drafts</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Library</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Downloads</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>Presets</name>
    <message>
        <source>Precise</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Balanced</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Creative</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>none of them</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Preset: {name}</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Presets, in force: {name}</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Save these values as a preset…</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Rename</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Delete</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Presets</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The sampling and the system prompt as they are shown here. A preset of yours with this name is replaced.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Save as a preset</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Save</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>A new name for “{name}”.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Rename the preset</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>“{name}” will be gone. Chats that use its values keep them.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Delete this preset?</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Name</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>Problems</name>
    <message>
        <source>Not everything is as it should be</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Something went wrong inside Paceline</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Your chats are saved. If something looks odd, restart Paceline.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The file could not be attached</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Attach another file, or paste the part that matters.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Check that it is still there and that you may read it.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Attach the part that matters, or paste it into the message.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Attach text, code, Markdown, CSV or a PDF with text; other documents can be exported as one of them.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Choose another file.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Save a copy without a password, and attach that.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Open it in a PDF viewer and print it to a new PDF, or copy the text that matters.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Not all files were attached</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Remove some, or send them in several messages.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Attach a PDF of the pages that matter.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Attach it again when you want it.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Choose it again where it lies now.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Attach the files in it that matter.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Attach a file.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>A conversation of this file has more messages than any real one.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>This file was written by a newer Paceline.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Import it with that version.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>This export of Paceline holds no list of conversations.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>A conversation has no list of messages, or one that is too long.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>A message of this file is no message.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>A message of this file has no number or role of its own.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>A message of this file follows one that is not there.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>There is no chat to export.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>This chat is not there any more.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Choose another one.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>This answer is not there any more.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Open the chat again.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The chats are closed.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The chats are being closed.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The chats were closed before this was saved.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>This cannot be measured</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Change the option or the file.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The report was not written</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The disk refused</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Check the library folder.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Download it again.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Choose another.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>must be numbers or auto</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>must be a number or all</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>must be numbers</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>This cannot be run</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Change the option.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>`paceline stats --answers --json` names those there are.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>There is no display</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The window needs one.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>In a terminal, use: paceline run --prompt &quot;...&quot; or paceline demo.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>No model is loaded</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Without a model nobody can answer.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Open a GGUF file, or the built-in pair.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Paceline could not go on</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Try again; if it happens again, restart Paceline.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The settings could not be saved</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>They hold until Paceline is closed. Check the free space and the folder&apos;s permissions.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The preset was not changed</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The peer could not be measured</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Check its path and its configurations, or leave it out.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The chats could not be exported</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Choose another place, or make some space.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The statistics could not be exported</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The file could not be imported</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Choose a JSON export of Paceline or LM Studio, or the zip that ChatGPT sends.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The chats could not be saved</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Check the disk and the folder&apos;s permissions; Paceline keeps trying.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The disk is full</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Make some space; what is not saved yet stays in memory and is saved then.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The chats are in use</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Close the other Paceline and start this one again.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The chats cannot be saved here</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Allow writing to the folder, or set PACELINE_HOME to another one, and start again.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The chats file was damaged</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The chats are from a newer Paceline</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The chats could not be backed up</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Check the free space in the folder of the backups.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The chats could not be updated to this version</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The hub named an address that is none.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The hub redirects to an address without encryption.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The hub redirects to an address that is none.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The hub&apos;s answer to the search is no list.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The hub sent something that is not JSON.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The hub sent the file packed, although it was asked not to.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The hub sends another number of bytes than it said.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The hub did not answer in time.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>No connection to the hub could be made.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The proxy refused the connection to the hub.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The connection to the hub broke.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The hub&apos;s answer could not be read.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The hub sent other bytes than those that were asked for.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Correct HTTPS_PROXY, HTTP_PROXY and ALL_PROXY.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The hub could not be asked</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Offline mode is on</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Unset HF_HUB_OFFLINE to reach the hub; models on this machine work without it.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The hub cannot be reached</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Check the network, the proxy and HF_ENDPOINT; downloads go on where they stopped.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The hub is busy</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Try again in a few minutes.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>This repository asks for permission</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Accept its terms on its page at the hub, and give Paceline an access token (or set HF_TOKEN).</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Not found on the hub</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Check the spelling; it may also have been renamed, removed or made private.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The file has changed on the hub</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Start the download again.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The hub&apos;s answer could not be understood</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Try again later; if HF_ENDPOINT names a mirror, check that it is one.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The download could not be completed</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>There is not enough space</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Make some space and resume: the part that is here is kept.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The file arrived damaged</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Try again; if it happens again, a proxy or a mirror on the way changes the bytes.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>This file is being downloaded already</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Wait for the other Paceline, or stop its download.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The library could not do this</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Check the name and the folder&apos;s permissions.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>This name is refused</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Nothing was written. Report the repository to the hub: such names serve attacks only.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The token cannot be kept</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Set the environment variable HF_TOKEN instead; Paceline writes no token into a file.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Check the spelling.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Name one.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>See `paceline models list`.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Paceline runs models in the GGUF format only.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Choose a smaller model.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Check the path; of a model in parts all are needed.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Another Paceline holds the library&apos;s index.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Try again in a moment.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Check the folder&apos;s permissions.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Choose a library folder on another disk.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The hub cannot give parts of files, so the header cannot be read alone.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>This system has no keyring that Paceline could use.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>This is no access token: it is empty, or holds characters that no token has.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The connection to the hub ended too early.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Try again when its publisher is done with it.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Check its permissions.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The hub sends more bytes than it said.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The folder could not be opened</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>This model is not here</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>This could not be done</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Something went wrong inside Paceline; it was written to the log.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Try again.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Check the disk and the network, then try again.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The recommendations cannot be shown</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Install Paceline again; searching the hub works without them.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The built-in models are missing</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>This copy of Paceline came without its small built-in pair.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Open a GGUF file of your own as the target.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The draft is not in use</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>No target is loaded</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>A draft needs a target.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Open a target first.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The padded model could not be made</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Check the free space of the cache folder.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The padded model was not removed</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Remove the file by hand.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>A folder cannot be written</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Delete one first.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Give another name.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>This setting was not taken</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Give a value in its range.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>No answer with figures is there yet.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Ask something first.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The prompt is empty.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Type a message.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The engine could not go on</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>This file cannot be used as a model</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Download it again, or choose another GGUF file.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Model file not found</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Check the path, or choose another GGUF file.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The model could not be loaded</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Not enough memory</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Choose a smaller context or a smaller model, or close other programs.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The context could not be made</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Choose a smaller context in the settings.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The prompt could not be made</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Change the message, or start a new chat.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The conversation is too long</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Start a new chat, shorten the message, or choose a larger context in the settings.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The chat template failed</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Choose another model file; this one&apos;s chat template is broken or unsafe.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The model stopped computing</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>This draft does not fit the target</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Choose a draft of the same model family, or use the n-gram mode, which needs no draft.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>This mode is not available</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Switch the mode to off.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The file could not be made</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Check the free disk space and the folder&apos;s permissions.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Ask again when you want it.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Reading the header was cancelled.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Start a new chat, or choose a larger context in the settings.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Load it again when you want it.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The text could not be split into tokens: the tokenizer of this model failed.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Install llama-cpp-python again on this machine.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>If it lies on a slow drive, copy it to this computer; otherwise choose another file.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Open it again when you want it.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>There is no message to answer.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The model computed values that are not numbers.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The file is probably damaged: download it again, or choose another one.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>No model is loaded.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Open a model first.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The model&apos;s memory could not forget the rejected tokens.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Switch the mode to off for this model.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Try again; if it happens again, reinstall Paceline.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The model&apos;s memory could not go back to a near tie.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Switch tie-safe off.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Make some room, or choose another folder.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Making the padded model was cancelled.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Start it again when you want it.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The messages use every private character of Unicode, so none is left to mark them.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Something went wrong in the engine</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>An error that should not happen stopped this step; the log has the details.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>This setting cannot be used</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Change it.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>An error that should not happen ({name}) was written to the log in {logs}.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>It is {parent}.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>{name} is gone.</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>PromptCard</name>
    <message>
        <source>Send “{prompt}”</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>PromptList</name>
    <message>
        <source>Prompts</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Edit prompts…</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Up and Down choose, Enter inserts, Esc closes</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>Prompts</name>
    <message>
        <source>summarise</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Summarise the following text in {number} sentences:

{text}</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>translate</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Translate the following text into {language}. Keep its tone:

{text}</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>explain-code</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Explain step by step what this code does, and name what could go wrong:

{code}</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>shorter</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Rewrite this in half as many words without losing a fact:

{text}</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>proofread</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Correct spelling and grammar, change nothing else, and list what you changed:

{text}</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>PromptsPage</name>
    <message>
        <source>Prompts</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Add</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Delete</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Name</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Name, typed after /</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Text</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Add a prompt</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Delete the chosen prompt</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Type / in an empty message to insert one. Words in {braces} are filled in turn.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>A prompt</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Give every prompt a name.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>{name} is there twice.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>{name} needs a text of at most {number} characters.</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>Question</name>
    <message>
        <source>Cancel</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>ReadmeView</name>
    <message>
        <source>The rest is on the page of the repository.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Description</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>Recommendations</name>
    <message>
        <source>It cannot be downloaded as it is listed here.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>{low} to {high} times, {measured_on}</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>RecommendedPage</name>
    <message>
        <source>Fit this machine</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>A tight fit</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Not judged yet</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Too large for this machine</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Recommended pairs</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>A large model and a small one that drafts for it.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Choose a pair</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>What it is good for, whether it matches and fits, is shown here.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Pair</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Search models</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The list of recommended pairs is empty. Search for models of your own choice.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>No recommendations</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Try again</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Licence</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Speed-up</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Source</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Hub</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>RepoPane</name>
    <message>
        <source>{compact} downloads</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>updated {day}</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>licence {licence}</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>licence not stated</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Files</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Description</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Open its page</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Choose a model</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Its files, sizes and whether they fit this machine are shown here.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Details</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>This repository holds no GGUF file. Look at its page for another format.</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>SearchPage</name>
    <message numerus="yes">
        <source>%n models</source>
        <translation type="unfinished">
            <numerusform></numerusform>
            <numerusform></numerusform>
        </translation>
    </message>
    <message>
        <source>Most downloads</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Last updated</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Name</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>{compact} downloads</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Gated</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Fits this machine</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Results</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Search models on Hugging Face</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Search models</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Clear the search</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Order</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Only models that fit this machine</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Searching…</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Show all sizes</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Nothing found</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Try again</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Asking the hub</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The hub names no repository with GGUF files that fits this machine.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The hub names no repository with GGUF files.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>No repository with GGUF files that fits this machine answers to “{text}”. Try fewer or other words.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>No repository with GGUF files answers to “{text}”. Try fewer or other words.</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>SearchResults</name>
    <message>
        <source>archived</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Search results</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>SettingRows</name>
    <message>
        <source>Open a GGUF file: {what}</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Models (*.gguf);;All files (*)</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>{low} to {high}</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>{number} or more</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>{number} or less</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>any</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>Settings</name>
    <message>
        <source>Engine</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Context</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>How many tokens of a conversation the model can see; more takes more memory.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>automatic</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>tokens</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Threads</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Processor threads that compute; more than the physical cores rarely helps.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>GPU layers</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Layers of the model kept on the GPU; 0 computes on the processor only.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>all that fit</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Cache type</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>How the target keeps the conversation; smaller types change the answers a little, alike in every mode.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Flash attention</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>One fused kernel; automatic: on a GPU and for long contexts. Smaller cache types always use it.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Automatic</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>On</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Off</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Draft threads</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Processor threads for the draft model.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Draft GPU layers</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Layers of the draft kept on the GPU; 0 runs it on the processor beside a target on the GPU.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>as for the target</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Draft cache type</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>How the draft keeps the conversation; this changes only what it proposes.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Models</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Speculation</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Sampling</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Chat</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Look</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Off (plain)</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>N-gram (prompt lookup)</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Suffix decoding</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Draft model</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Hybrid (text and draft model)</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Target</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The model that answers, a GGUF file; empty takes the small built-in one.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>built-in</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Draft</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The model that drafts for it, a GGUF file; empty takes the built-in one for the built-in target.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>built-in or none</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Library folder</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Where downloaded models are kept; a change moves no file.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>in the app&apos;s own data</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Mode</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>How tokens are proposed; the answers&apos; distribution is the target&apos;s own in every mode.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Draft length</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Tokens proposed per pass; 0 is plain decoding.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Past chats</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Text is drafted from past chats, too. What is kept of them stays on this machine; switching off deletes it.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Tie-safe</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>At temperature 0, near ties are decided as plain decoding decides them; the time it takes is shown.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Temperature</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Higher is more varied; 0 always takes the likeliest token.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Top-k</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Only the k likeliest tokens are drawn from; 0 switches it off.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Top-p</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Only the likeliest tokens that together reach this probability; 1 switches it off.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Min-p</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Drops tokens less likely than this share of the likeliest; 0 switches it off.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Repeat penalty</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Divides the scores of recent tokens; 1 switches it off.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Frequency penalty</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Lowers a token&apos;s score each time it recently appeared; 0 switches it off.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Presence penalty</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Lowers a token&apos;s score once if it recently appeared; 0 switches it off.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Seed</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The same seed gives the same answer at a fixed mode and draft length.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>random</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Longest answer</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>An answer ends after so many tokens.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>until it is done</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>System prompt</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Told to the model before the conversation; empty leaves it out.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Full context</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>What happens when a conversation outgrows the context; either way you are told.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Leave the oldest turns out</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Stop and say so</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Theme</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Light, dark, or as the system is set.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>As the system</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Light</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Dark</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Text size</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Of everything in the window, around the size of the system&apos;s own text.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Small</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Large</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Larger</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Density</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>How much room is left between things.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Comfortable</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Compact</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Language</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Of the window; it changes when Paceline is started again.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>English</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Deutsch</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Tray message</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Says in the tray that a long answer has ended while another window is in front; never what it says.</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>SettingsDialog</name>
    <message>
        <source>Settings</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Sections</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Save</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Cancel</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Restore defaults</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Put every setting back; nothing is saved until you save</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>ShortcutsDialog</name>
    <message>
        <source>Keyboard shortcuts</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Close</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>Sidebar</name>
    <message>
        <source> New chat</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Folders, import and export</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source> Models</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source> Settings</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Hide the sidebar (Ctrl+B)</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>New chat</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Start a new chat (Ctrl+N)</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Settings</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Open the settings (Ctrl+,)</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Models</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Find, judge and download models (Ctrl+M)</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Search chats</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>These words are in no chat.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Your chats will be listed here.</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>Sparkline</name>
    <message>
        <source>No values yet</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Latest {latest}, highest {highest}, lowest {lowest}</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>StackedBar</name>
    <message>
        <source>No values yet</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>StatsPanel</name>
    <message>
        <source>Tokens of this answer per second, measured from the end of reading the prompt to the last token.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Tokens this answer gained per forward pass of the target. Plain decoding is exactly 1.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Tokens per pass between two updates, over the course of this answer.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Speed against plain decoding, whose cost was measured on this model and machine while it was idle and is corrected while it runs.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>How many passes kept exactly so many of the drafted tokens.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Share of the drafted tokens that the target kept, and how many were drafted.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Of the passes that drafted this far, the share in which every token up to here was kept.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Forward passes of the target for this answer.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Tokens of this answer so far, the end-of-answer token included.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Time from the start of the request to the first token, reading the prompt included.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Half of the tokens came faster than this. A pass&apos;s time is spread over the tokens that it gave.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>19 of 20 tokens came faster than this. A pass&apos;s time is spread over the tokens that it gave.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>99 of 100 tokens came faster than this. A pass&apos;s time is spread over the tokens that it gave.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Tokens of the prompt, and how many of them were kept from the turn before.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Where the time of a pass goes, summed over this answer and measured around each step.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Why the engine drafts as it does now. Earlier reasons of this answer:</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Where each token of this answer came from.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Draft</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Proposed by the draft model and kept by the target.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>N-gram</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Proposed from earlier text of this conversation and kept by the target.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Recovered</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Drawn by the target in place of a drafted token it refused.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Bonus</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The extra token of a pass in which every drafted token was kept.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Target</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Drawn by the target alone, nothing was drafted.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Verify</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Sample</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Rest</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Statistics</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>no answer yet</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>tok/s</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>tokens per pass</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>times plain</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Tokens per pass over time</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Accepted</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Acceptance by depth</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Passes by tokens kept</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Why it drafts as it does</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Tokens</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Passes</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>First token</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Between tokens, p50</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Between tokens, p95</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Between tokens, p99</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Prompt</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Time of a pass</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Where the tokens came from</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Speed</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Acceptance</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>This answer</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Where tokens came from</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Why</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>live</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>last answer</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>{number}, {kept} kept</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>A pass&apos;s time is spread over the tokens that it gave.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Answers</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Time spent</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Saved against plain</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Context used</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Target, weights</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Target, cache</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Draft, weights</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Draft, cache</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Working buffers</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>All models</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>By models and mode</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Tokens per second, measured from the end of reading the prompt to the last token.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Tokens gained per forward pass of the target; plain decoding is exactly 1.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Answers that gave at least one token, those stopped or given again among them.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Tokens given, the end-of-answer token included.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Forward passes of the target.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Half of the tokens came faster than this.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>19 of 20 tokens came faster than this.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>99 of 100 tokens came faster than this.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Time from the end of reading the prompts to the last tokens, all answers together.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Time less than plain decoding would have taken for the same tokens at its measured cost; with a minus, more.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Where the time of a pass goes, summed up and measured around each step.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Tokens of the conversation that the model holds, of those it has room for.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Where each token came from.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Memory of the target&apos;s weights, main and GPU memory together.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Memory for what the target remembers of the conversation, at full length.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Memory of the draft model&apos;s weights, main and GPU memory together.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Memory for what the draft model remembers of the conversation, at full length.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Memory in which both models compute a pass and hand out its results.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Weights, caches and working buffers of target and draft together.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>For each target and draft, and each mode: tokens per second, and times plain. Sums are divided by sums, so a long answer weighs more than a short one.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>As llama.cpp reported it when it loaded the model.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Estimated from the file&apos;s header, since llama.cpp did not report it.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Share of the time in which tokens were drafted.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Share of the time in which the target computed its passes.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Share of the time in which tokens were drawn and drafted ones were judged.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Share of the time for everything else: taking back, text, handing over.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>{tokens}, {cached} kept</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>{used} of {size}, {share}</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>about {size}</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Model not noted</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>{number} tokens per second</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>{times} the speed of plain decoding</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>{number} tokens per pass</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>{share} drafted tokens accepted</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>SuggestionCard</name>
    <message>
        <source>Fits this machine</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>{weight} to download</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>here already</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Licence {licence}</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Download and chat</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Chat</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Download {name} and chat</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>SwitchRow</name>
    <message>
        <source>On</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>Text</name>
    <message>
        <source>Edit your message</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>TextRow</name>
    <message>
        <source>At most {number} characters.</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>ThoughtBlock</name>
    <message>
        <source>{seconds} s</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Reasoning</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>open</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>folded</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Reasoning. {heading}, {state}</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Thinking…</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Thinking… {seconds} s</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Thought</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Thought for {duration}</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>TokenBox</name>
    <message>
        <source>The token is kept in the system&apos;s keyring and sent to the hub only.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>This model is gated</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Access token (hf_…)</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Access token</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Use this token</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Open its page</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Forget the token</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>Transcript</name>
    <message>
        <source>Conversation</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Jump to latest</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Scroll to the end and stay there</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>TransferController</name>
    <message numerus="yes">
        <source>%Ln chats exported to {name}.</source>
        <translation type="unfinished">
            <numerusform></numerusform>
            <numerusform></numerusform>
        </translation>
    </message>
    <message>
        <source>Paceline chats</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Another import or export is still at work.</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>UserCard</name>
    <message>
        <source>You</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Your message</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Copy message</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Copied</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Edit message</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>VersionSwitch</name>
    <message>
        <source>Previous version (Alt+Left)</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Next version (Alt+Right)</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Version {number} of {total}</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>WelcomePage</name>
    <message numerus="yes">
        <source>%n cores</source>
        <translation type="unfinished">
            <numerusform></numerusform>
            <numerusform></numerusform>
        </translation>
    </message>
    <message>
        <source>None of the recommended pairs fits the memory that is free now. Begin with the built-in pair.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>{total}, {free} free</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Processor</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Memory</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>, {size} free</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Graphics</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>none that this build can use: the processor computes</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Disk</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>{size} free</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Use the built-in pair</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>I have a GGUF file…</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Skip</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Welcome to Paceline</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Choose what answers you. A small model drafts, the large one checks every word: the same answers, sooner.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>This machine</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Pairs for it</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Or without a download</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Welcome</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Target</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>Words</name>
    <message numerus="yes">
        <source>%n days ago</source>
        <translation type="unfinished">
            <numerusform></numerusform>
            <numerusform></numerusform>
        </translation>
    </message>
    <message>
        <source>Fits</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Tight</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Too large</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Fit unknown</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Model</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Draft model</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Image reader (mmproj)</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Next-token heads (MTP)</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>EAGLE head</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>DFlash head</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Quantization data (imatrix)</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Vocabulary only</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Adapter (LoRA)</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Other file</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>A model that can answer.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>A small model made to draft for a large one. Use it as a draft, not to chat with.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Lets a model see images. It is no model of its own and cannot be chatted with.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Extra layers that propose several tokens at once. They belong to one model and cannot chat.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>A drafting head that reads the target&apos;s inner state. It cannot be used on its own.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>A drafting head that proposes a block at once. It cannot be used on its own.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Measurements used when a model is quantized. Nothing to chat with.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>A vocabulary without weights. Nothing to chat with.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>A change to another model&apos;s weights. It cannot be used on its own.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Not a model as far as its name and header tell.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The draft matches</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The draft does not match</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Checking the vocabularies</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Not checked yet</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Waiting for its turn</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Downloading</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Checking the file</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Paused</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Stopped</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Complete</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>time left not known</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>{seconds} s left</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>{minutes} min left</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>{hours} h {rest} min left</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>today</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>yesterday</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>d MMM yyyy</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>never used</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>used {day}</source>
        <translation type="unfinished"></translation>
    </message>
</context>
</TS>
